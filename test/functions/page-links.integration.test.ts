import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { pageLinks } from "../../shared/http/route-handler.ts";
import { call } from "../support/call.ts";
import { aLead, aMessage } from "../support/requests.ts";

/** Parses the `Link` header: each target by its `rel`. */
function parseLinks(headers: object): Record<string, string> {
  const link = (headers as { link?: string }).link ?? "";
  const parts = [...link.matchAll(/<([^>]*)>; rel="([^"]*)"/g)];
  return Object.fromEntries(parts.map(([, target, rel]) => [rel, target]));
}

const linkedPages = (headers: object) =>
  Object.fromEntries(
    Object.entries(parseLinks(headers)).map(([rel, target]) => [
      rel,
      Number(new URL(target, "http://x").searchParams.get("page")),
    ]),
  );

const account = randomUUID();
for (let n = 0; n < 5; n++) await aLead(account, { name: `Lead ${n}`, source: "a,y & b=ü>" });

test.each([
  ["the first", 1, { first: 1, next: 2, last: 3 }],
  ["the middle one", 2, { first: 1, prev: 1, next: 3, last: 3 }],
  ["the last", 3, { first: 1, prev: 2, last: 3 }],
  ["the page after the last", 4, { first: 1, prev: 3, last: 3 }],
  ["a page far past the end", 999_999_999, { first: 1, prev: 3, last: 3 }],
])("links %s of three pages to the others", async (_, page, expected) => {
  const { headers } = await call("list-leads", { account, query: `limit=2&page=${page}` });
  expect(linkedPages(headers)).toEqual(expected);
});

test("links an empty list to its one page, and a full last page to no next", async () => {
  const none = await call("list-leads", { account: randomUUID() });
  expect(parseLinks(none.headers)).toEqual({
    first: "/api/v1/leads?page=1&limit=20",
    last: "/api/v1/leads?page=1&limit=20",
  });
  const all = await call("list-leads", { account, query: "limit=5" });
  expect(linkedPages(all.headers)).toEqual({ first: 1, last: 1 });
});

test("next walks the whole list and keeps the filters, whatever characters they hold", async () => {
  const source = encodeURIComponent("a,y & b=ü>");
  const names: string[] = [];
  let query: string | undefined = `source=${source}&status=new&limit=2`;
  while (query !== undefined) {
    const response: Awaited<ReturnType<typeof call<"list-leads">>> = await call("list-leads", {
      account,
      query,
    });
    names.push(...response.body.data.map(({ name }) => name));
    query = parseLinks(response.headers).next?.replace("/api/v1/leads?", "");
  }
  expect(names).toEqual(["Lead 4", "Lead 3", "Lead 2", "Lead 1", "Lead 0"]);
});

test("links pages of conversations too, and no response but lists", async () => {
  const lead = await aLead(account);
  for (const channel of ["a", "b"]) await aMessage(account, lead.id, channel);
  const query = `leadId=${lead.id}&limit=1`;
  const { headers } = await call("list-conversations", { account, query });
  const target = (page: number) => `/api/v1/conversations?leadId=${lead.id}&limit=1&page=${page}`;
  expect(parseLinks(headers)).toEqual({ first: target(1), next: target(2), last: target(2) });
  const created = await call("create-lead", { account, body: { name: "Ada" } });
  expect(created.headers).not.toHaveProperty("link");
});

test("the longest links fit in the 10,240 bytes that all headers together may have", () => {
  const longest = "\u{1F44B}".repeat(64);
  const query = { leadId: longest, channel: longest, status: longest };
  const total = 99_999_999_900;
  const links = pageLinks("/api/v1/conversations", query, { page: 999_999_998, limit: 100, total });
  expect(links.split(", ")).toHaveLength(4);
  expect(links.length).toBeLessThan(9800);
});
