import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { beforeAll, describe, expect, test } from "vitest";
import type { Conversation } from "../../shared/schemas/conversation-schemas.ts";
import type { Lead } from "../../shared/schemas/lead-schemas.ts";
import { call } from "../support/call.ts";
import { aLead, aMessage } from "../support/requests.ts";

const account: string = randomUUID();
const leads: Lead[] = [];
const conversations: Pick<Conversation, "id" | "leadId" | "channel">[] = [];

beforeAll(async () => {
  for (const [email, source] of [
    ["Ada@Example.com", "web"],
    ["grace@example.com", "web"],
    ["ada@example.com", "fair"],
    [undefined, "web"],
    ["ada@example.com.au", "web"],
  ] as const) {
    leads.push(await aLead(account, { source, ...(email !== undefined && { email }) }));
    await setTimeout(3);
  }
  for (const { id: leadId } of leads) {
    for (const channel of ["sms", "web"]) {
      const { conversationId: id } = await aMessage(account, leadId, channel);
      conversations.push({ id, leadId, channel });
      await setTimeout(3);
    }
  }
});

/** The numbers of the leads that a query lists, counted from the oldest; their total must be their number. */
async function list(query: object, of = account): Promise<number[]> {
  const { status, body } = await call("list-leads", {
    account: of,
    query: new URLSearchParams({ ...query }).toString(),
  });
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body.pagination.total).toBe(body.data.length);
  return body.data.map(({ id }) => leads.findIndex((lead) => lead.id === id));
}

async function listConversations(query: object): Promise<number[]> {
  const search = new URLSearchParams({ ...query }).toString();
  const { body } = await call("list-conversations", { account, query: search });
  expect(body.pagination.total).toBe(body.data.length);
  return body.data.map(({ id }) => conversations.findIndex((conversation) => conversation.id === id));
}

const at = (n: number) => leads[n]?.createdAt ?? "";

describe("email", () => {
  test.each([
    "ada@example.com",
    "ADA@EXAMPLE.COM",
  ])("finds the leads with the address in any letter case, as they were stored: %s", async (email) => {
    expect(await list({ email })).toEqual([2, 0]);
    const { body } = await call("list-leads", { account, query: `email=${email}` });
    expect(body.data.map((lead) => lead.email)).toEqual(["ada@example.com", "Ada@Example.com"]);
  });

  test("combines with the other filters and finds nothing of other accounts", async () => {
    const email = "ada@example.com";
    expect(await list({ email, source: "web" })).toEqual([0]);
    expect(await list({ email, source: "web", status: "new" })).toEqual([0]);
    expect(await list({ email, status: "booked" })).toEqual([]);
    expect(await list({ email, createdAfter: at(1) })).toEqual([2]);
    expect(await list({ email, status: "new", createdBefore: at(2) })).toEqual([0]);
    expect(await list({ email: "nobody@example.com" })).toEqual([]);
    expect(await list({ email }, "another")).toEqual([]);
  });
});

describe("id", () => {
  test("finds one lead, if it matches the other filters, too", async () => {
    const id = leads[2]?.id ?? "";
    expect(await list({ id })).toEqual([2]);
    expect(await list({ id, source: "fair", status: "new", email: "Ada@example.com" })).toEqual([2]);
    expect(await list({ id, createdAfter: at(2), createdBefore: at(3) })).toEqual([2]);
    for (const other of [
      { source: "web" },
      { status: "booked" },
      { email: "grace@example.com" },
      { createdBefore: at(2) },
      { createdAfter: at(3) },
    ])
      expect(await list({ id, ...other }), JSON.stringify(other)).toEqual([]);
  });

  test("finds nothing for what is not the id of one of the account's leads", async () => {
    expect(await list({ id: leads[2]?.id ?? "" }, "another")).toEqual([]);
    for (const id of ["lead_1", "x", "root", "lead", "conv", "_conv_1"])
      expect(await list({ id })).toEqual([]);
  });

  test("finds one conversation, if it matches the other filters, too", async () => {
    const { id, leadId } = conversations[3] ?? { id: "", leadId: "" };
    expect(await listConversations({ id })).toEqual([3]);
    expect(await listConversations({ id, leadId, channel: "web", status: "active" })).toEqual([3]);
    expect(await listConversations({ id, leadId: leads[0]?.id })).toEqual([]);
    expect(await listConversations({ id, channel: "sms" })).toEqual([]);
    for (const other of ["conv_1", "x", "lead", "root"]) {
      expect(await listConversations({ id: other })).toEqual([]);
      expect(await listConversations({ leadId: other.replace("conv", "lead") })).toEqual([]);
    }
  });

  test("has its one row on the first page", async () => {
    const id = leads[2]?.id ?? "";
    const { body } = await call("list-leads", { account, query: `id=${id}&page=2&limit=5` });
    expect(body).toEqual({ data: [], pagination: { page: 2, limit: 5, total: 1 } });
  });
});

describe("createdAfter and createdBefore", () => {
  test("include the first time and exclude the second one", async () => {
    expect(await list({ createdAfter: at(1) })).toEqual([4, 3, 2, 1]);
    expect(await list({ createdBefore: at(1) })).toEqual([0]);
    expect(await list({ createdAfter: at(1), createdBefore: at(3) })).toEqual([2, 1]);
    expect(await list({ createdAfter: at(1), createdBefore: at(1) })).toEqual([]);
  });

  test("can lie before and after all rows, and in any offset", async () => {
    const wide = { createdAfter: "0001-01-01T00:00:00Z", createdBefore: "9999-12-31T23:59:59-23:59" };
    expect(await list(wide)).toEqual([4, 3, 2, 1, 0]);
    expect(await list({ createdAfter: wide.createdBefore })).toEqual([]);
    expect(await list({ createdBefore: wide.createdAfter })).toEqual([]);
    const inIndia = new Date(Date.parse(at(2)) + 5.5 * 3_600_000).toISOString().replace("Z", "+05:30");
    expect(await list({ createdAfter: inIndia })).toEqual([4, 3, 2]);
  });

  test("combine with the other filters", async () => {
    expect(await list({ createdAfter: at(1), source: "web" })).toEqual([4, 3, 1]);
    expect(await list({ createdAfter: at(1), createdBefore: at(4), source: "web", status: "new" })).toEqual([
      3, 1,
    ]);
    expect(await list({ createdBefore: at(3), status: "booked" })).toEqual([]);
  });

  test("list the conversations that started then", async () => {
    const { body } = await call("list-conversations", { account });
    const started = body.data.at(-4)?.lastMessageAt ?? "";
    expect(await listConversations({ createdBefore: started })).toEqual([2, 1, 0]);
    expect(await listConversations({ createdBefore: started, channel: "web" })).toEqual([1]);
    const leadId = leads[1]?.id;
    expect(await listConversations({ createdAfter: started, leadId })).toEqual([3]);
    expect(await listConversations({ createdAfter: started, leadId, channel: "sms" })).toEqual([]);
  });

  test("stay in the links of a page as they were sent", async () => {
    const times = { createdAfter: at(0).replace("Z", "+00:00"), createdBefore: at(4) };
    const query = new URLSearchParams({ ...times, limit: "2" }).toString();
    const { headers, body } = await call("list-leads", { account, query });
    expect(body.pagination.total).toBe(4);
    const next = /<([^>]*)>; rel="next"/.exec(String(headers.link))?.[1] ?? "";
    const { searchParams } = new URL(next, "http://x");
    expect(Object.fromEntries(searchParams)).toEqual({ ...times, page: "2", limit: "2" });
  });
});
