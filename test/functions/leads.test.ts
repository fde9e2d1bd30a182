import { beforeEach, describe, expect, test } from "vitest";
import { pageLinks } from "../../shared/http/route-handler.ts";
import { type RouteName, routes } from "../../shared/routes.ts";
import { call } from "../support/call.ts";
import { putLeads, useMemoryTable } from "../support/memory-leads.ts";
import { aLead, aMessage } from "../support/requests.ts";
import { WatchedTable } from "../support/watched-table.ts";

beforeEach(() => void useMemoryTable());

test("create-lead returns the whole record, which lists return as well", async () => {
  const before = Date.now();
  const input = { name: "Ada Lovelace", email: "Ada@example.com", source: "instagram", tags: ["vip", "vip"] };
  const { status, body } = await call("create-lead", { body: input });
  expect(status).toBe(201);
  expect(body).toEqual({
    ...input,
    id: expect.stringMatching(/^lead_[0-9A-HJKMNP-TV-Z]{26}$/),
    score: 0,
    status: "new",
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  });
  expect(Date.parse(body.createdAt)).toBeGreaterThanOrEqual(before);
  expect(Date.parse(body.createdAt)).toBeLessThanOrEqual(Date.now());
  expect((await call("list-leads")).body.data).toEqual([body]);
});

test("a hundred ids take one call, and a unit each", async () => {
  const table = new WatchedTable();
  const items = await putLeads(table.memory, "acme", 100);
  const ids = items.map(({ id }) => id);
  const { result, calls, units } = await table.watch(() =>
    call("list-leads", { query: `limit=100&id=${ids}` }),
  );
  expect(result.body.data.map(({ id }) => id)).toEqual(ids.reverse());
  expect(calls.map(({ name }) => name)).toEqual(["BatchGetCommand"]);
  expect(units).toBe(100);
});

test("an account without leads has one page, which is empty", async () => {
  const { status, body, headers } = await call("list-leads");
  expect([status, body]).toEqual([200, { data: [], pagination: { page: 1, limit: 20, total: 0 } }]);
  expect(headers.link).toBe(
    '</api/v1/leads?page=1&limit=20>; rel="first", </api/v1/leads?page=1&limit=20>; rel="last"',
  );
});

test("a page past the end links to the last one before it", async () => {
  for (let n = 0; n < 5; n++) await aLead("acme");
  const { headers } = await call("list-leads", { query: "limit=2&page=9" });
  const pages = [...String(headers.link).matchAll(/page=(\d+)[^"]*rel="([a-z]+)"/g)].map(([, page, rel]) => [
    rel,
    page,
  ]);
  expect(pages).toEqual([
    ["first", "1"],
    ["prev", "3"],
    ["last", "3"],
  ]);
});

test("the largest page and limit are accepted", async () => {
  await aLead("acme");
  const { body } = await call("list-leads", { query: "page=999999999&limit=100" });
  expect(body).toEqual({ data: [], pagination: { page: 999_999_999, limit: 100, total: 1 } });
});

test("the longest links fit in the 10,240 bytes that all headers together may have", () => {
  const longest = "\u{1F44B}".repeat(64);
  const query = { leadId: longest, channel: longest, status: longest };
  const total = 99_999_999_900;
  const links = pageLinks("/api/v1/conversations", query, { page: 999_999_998, limit: 100, total });
  expect(links.split(", ")).toHaveLength(4);
  expect(links.length).toBeLessThan(9800);
});

test("times can be before and after all rows, and in any offset", async () => {
  const { createdAt } = await aLead("acme");
  const total = async (createdAfter: string, createdBefore: string) => {
    const query = new URLSearchParams({ createdAfter, createdBefore }).toString();
    return (await call("list-leads", { query })).body.pagination.total;
  };
  const [first, last] = ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59-23:59"];
  expect(await total(first, last)).toBe(1);
  expect(await total(last, last)).toBe(0);
  const inIndia = (time: number) => new Date(time + 5.5 * 3_600_000).toISOString().replace("Z", "+05:30");
  expect(await total(inIndia(Date.parse(createdAt)), last)).toBe(1);
  expect(await total(inIndia(Date.parse(createdAt) + 1), last)).toBe(0);
  expect(await total(first, inIndia(Date.parse(createdAt)))).toBe(0);
});

test.each([
  ["LinkedIn", "linkedin"],
  ["ΟΔΟΣ", "οδος"],
  // The lower case of this character is two, so the longest name would become too long.
  ["İ".repeat(64), "İ".repeat(64)],
  ["Ⱥ".repeat(64), "ⱥ".repeat(64)],
])("a source or channel is stored in lower case, and found in any: %s", async (sent, stored) => {
  const lead = await aLead("acme", { source: sent });
  const message = await aMessage("acme", lead.id, sent);
  expect([lead.source, message.channel]).toEqual([stored, stored]);
  expect((await aMessage("acme", lead.id, stored)).conversationId).toBe(message.conversationId);
  for (const name of [sent, stored].map(encodeURIComponent)) {
    expect((await call("list-leads", { query: `source=${name}` })).body.data).toHaveLength(1);
    const query = `channel=${name}&status=ACTIVE`;
    expect((await call("list-conversations", { query })).body.data).toHaveLength(1);
  }
});

interface ObjectSchema {
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, unknown>>;
}

/** The schema of a response, and of a list's items. */
function responseSchemas(name: RouteName): readonly ObjectSchema[] {
  const response = routes[name].response as unknown as ObjectSchema;
  const { data, pagination } = response.properties as {
    data?: { items: ObjectSchema };
    pagination: ObjectSchema;
  };
  return data ? [response, pagination, data.items] : [response];
}

describe("the responses of all routes", () => {
  /** Sends requests to every route. @returns the objects of each response */
  async function useAllRoutes(lead: object): Promise<Readonly<Record<RouteName, readonly object[]>>> {
    const created = (await call("create-lead", { body: lead })).body;
    const sent = await aMessage("acme", created.id);
    const leads = (await call("list-leads")).body;
    const conversations = (await call("list-conversations")).body;
    return {
      "create-lead": [created],
      "send-message": [sent],
      "list-leads": [leads, leads.pagination, leads.data[0] ?? {}],
      "list-conversations": [conversations, conversations.pagination, conversations.data[0] ?? {}],
    };
  }

  test("have the required fields and no others if requests have only theirs", async () => {
    const responses = await useAllRoutes({ name: "Ada" });
    for (const name of Object.keys(routes) as RouteName[])
      expect(responses[name].map((response) => Object.keys(response).sort())).toEqual(
        responseSchemas(name).map(({ required }) => required.toSorted()),
      );
  });

  test("have all fields, in the order of the schema, if requests have all of theirs", async () => {
    const lead = { tags: ["vip"], source: "web", email: "ada@example.com", name: "Ada" };
    const responses = await useAllRoutes(lead);
    for (const name of Object.keys(routes) as RouteName[])
      expect(responses[name].map((response) => Object.keys(response))).toEqual(
        responseSchemas(name).map(({ properties }) => Object.keys(properties)),
      );
  });
});

describe.each([
  ["list-leads", "id"],
  ["list-conversations", "id"],
  ["list-conversations", "leadId"],
] as const)("%s by %s", (name, field) => {
  test.each([
    "x",
    "lead 1",
    "\n",
    "%",
    "root",
    "lead",
    "x".repeat(64),
  ])("finds nothing for %j, which is no id", async (id) => {
    const { status, body } = await call(name, { query: new URLSearchParams({ [field]: id }).toString() });
    expect([status, body.pagination.total]).toEqual([200, 0]);
  });
});
