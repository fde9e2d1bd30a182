import { beforeAll, describe, expect, test } from "vitest";
import { call } from "../support/call.ts";
import { aLead } from "../support/requests.ts";

describe("create-lead", () => {
  test("returns the whole record", async () => {
    const before = Date.now();
    const input = {
      name: "Ada Lovelace",
      email: "ada@example.com",
      source: "instagram",
      tags: ["vip", "vip"],
    };
    const { status, headers, body } = await call("create-lead", { account: "create", body: input });
    expect(status).toBe(201);
    expect(headers).toMatchObject({ "content-type": "application/json", "cache-control": "no-store" });
    expect(body).toEqual({
      ...input,
      id: expect.stringMatching(/^lead_[0-9A-HJKMNP-TV-Z]{26}$/),
      score: 0,
      status: "new",
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    expect(Date.parse(body.createdAt)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(body.createdAt)).toBeLessThanOrEqual(Date.now());
  });

  test("leaves out fields without a value, except tags", async () => {
    const body = await aLead("create", { name: "Grace" });
    expect(Object.keys(body).sort()).toEqual(["createdAt", "id", "name", "score", "status", "tags"]);
    expect(body.tags).toEqual([]);
  });

  test("stores the longest strings unchanged", async () => {
    const input = {
      name: ` ${"\u{1F468}".repeat(198)} `,
      email: `${"a".repeat(64)}@${"b.".repeat(93)}com`,
      source: "\u{1F600}".repeat(64),
      tags: Array.from({ length: 50 }, () => "#".repeat(64)),
    };
    expect(input.email).toHaveLength(254);
    await aLead("longest", input);
    const { body } = await call("list-leads", {
      account: "longest",
      query: `source=${encodeURIComponent(input.source)}`,
    });
    expect(body.data).toEqual([expect.objectContaining(input)]);
  });
});

describe("list-leads", () => {
  test("returns an empty page for an account without leads", async () => {
    const { status, body } = await call("list-leads", { account: "nobody" });
    expect(status).toBe(200);
    expect(body).toEqual({ data: [], pagination: { page: 1, limit: 20, total: 0 } });
  });

  test("lists new leads at once, newest first, page by page", async () => {
    const created = [];
    for (let i = 0; i < 45; i++) created.unshift(await aLead("pages", { name: `Lead ${i}` }));
    const byTime = created.toSorted((a, b) => (a.id < b.id ? 1 : -1));
    const pages = [];
    for (const page of [1, 2, 3, 4]) {
      const { body } = await call("list-leads", { account: "pages", query: `page=${page}` });
      expect(body.pagination).toEqual({ page, limit: 20, total: 45 });
      pages.push(body.data);
    }
    expect(pages.map((data) => data.length)).toEqual([20, 20, 5, 0]);
    expect(pages.flat()).toEqual(byTime);
    const last = await call("list-leads", { account: "pages", query: "page=9&limit=5" });
    expect(last.body.data).toEqual(byTime.slice(40));
    expect(last.body.pagination).toEqual({ page: 9, limit: 5, total: 45 });
  });

  test("accepts the largest page and limit", async () => {
    await aLead("largest");
    const { body } = await call("list-leads", { account: "largest", query: "page=999999999&limit=100" });
    expect(body).toEqual({ data: [], pagination: { page: 999_999_999, limit: 100, total: 1 } });
  });

  beforeAll(async () => {
    for (const source of ["a", "a,y", undefined]) await aLead("filters", { source });
  });

  test.each([
    ["status=new", 3],
    ["status=booked", 0],
    ["source=a%2Cy", 1],
    ["source=a", 1],
    ["source=A", 1],
    ["source=a+b", 0],
    ["source=a%23b", 0],
    ["status=new&source=a", 1],
    ["status=booked&source=a", 0],
    ["source=nobody%20has%20this", 0],
    ["source=new", 0],
    ["", 3],
  ])("with %s finds %i of the three leads", async (query, total) => {
    const { body } = await call("list-leads", { account: "filters", query });
    expect(body.pagination.total).toBe(total);
    expect(body.data).toHaveLength(total);
  });
});
