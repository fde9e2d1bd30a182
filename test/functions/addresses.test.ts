import { randomUUID } from "node:crypto";
import type { DynamoDBRecord } from "aws-lambda";
import { beforeEach, describe, expect, test } from "vitest";
import { beginErasure } from "../../lib/ops/erasure/erased-leads.ts";
import { toEvents } from "../../shared/domain/events.ts";
import { addressKey } from "../../shared/dynamodb/keys.ts";
import { Pace } from "../../shared/dynamodb/pace.ts";
import type { Item } from "../../shared/dynamodb/table-client.ts";
import { call } from "../support/call.ts";
import { useMemoryTable } from "../support/memory-leads.ts";
import type { MemoryTable } from "../support/memory-table.ts";
import { aLead, aMessage } from "../support/requests.ts";
import { skipWaits } from "../support/skipped-waits.ts";
import { stopClock } from "../support/virtual-time.ts";

let account: string;
let memory: MemoryTable;
let stream: DynamoDBRecord[];
beforeEach(() => {
  [account, stream] = [randomUUID(), []];
  memory = useMemoryTable(undefined, stream);
});

const update = (body: object, headers = {}) =>
  call("create-lead", { account, headers, query: "ifExists=update", body });
const list = async (query: string) => (await call("list-leads", { account, query })).body.data;
const whatsapp = (...addresses: string[]) => ({ addresses: { whatsapp: addresses } });
const items = () => JSON.stringify([...memory.items()]);

test.each([
  ["is found by a telephone number whose + is not encoded", "wa", "(49) 0177-123", "WA:+49.0177/1.2-3", true],
  ["is not found by digits without the dots of a handle", "line", "1.2.34", "line:12.34", false],
  ["is not found by the id of a group", "line", "-100123", "line:100123", false],
  ["is found by the longest channel and address", "c".repeat(64), "a".repeat(160), "", true],
  ["is found by a telephone number with its + in parentheses", "wa", "(+49) 177.1", "wa:491771", true],
  ["is found by a text with a colon", "line", "DE:Ab", "line:DE:Ab", true],
  ["is found by an e-mail address in other letter case", "email", "Ada@x.de", "email:aDA@X.de", true],
  ["is not found by a handle in other letter case", "line", "Ab", "line:ab", false],
  ["is not found by the digits of a handle", "line", "ada1", "line:1", false],
  ["is not found by an address of another channel", "line", "1", "sms:1", false],
  ["is not found by other signs", "line", "--", "line:((", false],
])("a lead %s", async (_, channel, address, asked, isFound) => {
  const lead = await aLead(account, { addresses: { [channel]: [address] } });
  expect(await list(`address=${asked || `${channel}: ${address}`}`)).toEqual(isFound ? [lead] : []);
});

test("the same address in another spelling is no change", async () => {
  stopClock();
  const { id, updatedAt, createdAt } = await aLead(account, whatsapp("+49 1"));
  expect(updatedAt).toBe(createdAt);
  const { body } = await update({ id, addresses: { WHATSAPP: ["491"] } });
  expect([body.addresses, body.updatedAt]).toEqual([{ whatsapp: ["+49 1"] }, updatedAt]);
  expect(toEvents(stream).map(({ type }) => type)).toEqual(["lead.created"]);
  // Two changes in one millisecond have two times.
  const [first, second] = [await update({ id, name: "A" }), await update({ id, name: "B" })];
  const times = [updatedAt, first.body.updatedAt, second.body.updatedAt];
  expect(times).toEqual([...new Set(times)].sort());
});

test("an update of all fields is one event with all their names", async () => {
  const { id } = await aLead(account);
  const fields = {
    ...{ externalId: "a", name: "Bob", email: "b@example.com", source: "web", tags: ["x"] },
    ...{ ...whatsapp("1"), metadata: { a: "b" }, status: "booked", score: 1 },
  };
  expect(await update({ id, ...fields })).toMatchObject({ status: 200, body: fields });
  const [, { changed } = {}] = toEvents(stream) as { changed?: string[] }[];
  expect(changed?.toSorted()).toEqual(Object.keys(fields).sort());
});

test("metadata takes a long text, and goes with its last entry; PHP's [] is {}", async () => {
  const { id } = await aLead(account, { metadata: { fbclid: "x".repeat(1000) } });
  expect((await update({ id, metadata: { fbclid: null } })).body.metadata).toBeUndefined();
  const body = { name: "Ada", metadata: [], addresses: [] };
  expect((await call("create-lead", { account, body })).body).toMatchObject({ metadata: {} });
});

test("a message goes to the first address of its lead on the channel, at that time", async () => {
  const { id } = await aLead(account, { addresses: { "whatsapp-2": ["2"], whatsapp: ["+49 1", "+49 2"] } });
  const sent = await aMessage(account, id, "WhatsApp");
  await update({ id, addresses: { whatsapp: null } });
  await update({ id, ...whatsapp("3") });
  // Also the name of a method.
  await aMessage(account, id, "constructor");
  await aMessage(account, id, "whatsapp", { direction: "inbound" });
  await aMessage(account, id);
  expect(sent).not.toHaveProperty("to");
  const query = `id=${sent.conversationId}&include=messages`;
  const { data } = (await call("list-conversations", { account, query })).body as {
    data: { messages?: { to?: string }[] }[];
  };
  expect(data[0]?.messages?.map(({ to }) => to)).toEqual(["3", undefined, "+49 1"]);
  const events = toEvents(stream).filter(({ type }) => /^message[.](?:sent|received)$/.test(type));
  expect(events.map((event) => "to" in event && event.to)).toEqual(["+49 1", false, false, "3"]);
});

describe("a retry after the erasure of its lead", () => {
  test.each<[string, object, string]>([
    ["a create", { externalId: "a", email: "ada@example.com" }, ""],
    ["an update by an id", { id: "known", email: "ada@example.com" }, "ifExists=update"],
    ["an update by an external id", { externalId: "k", email: "ada@example.com" }, "ifExists=update"],
    ["an update by an address", { ...whatsapp("1"), email: "ada@example.com" }, "ifExists=update"],
    ["an update that could create it", { name: "Ada", ...whatsapp("1") }, "ifExists=update"],
  ])("of %s is 404, tells nothing and stores nothing", async (_, fields, query) => {
    const known = await aLead(account, { externalId: "k", ...whatsapp("1") });
    const body = query ? { ...fields, ...("id" in fields && { id: known.id }) } : { name: "Ada", ...fields };
    const send = () => call("create-lead", { account, query, body, headers: { "idempotency-key": "key" } });
    const { id } = (await send()).body;
    await beginErasure(account, id, new Pace(1e9));
    const before = items();
    const { status, problem } = await send();
    expect([status, problem.code, JSON.stringify(problem).includes("ada@")]).toEqual([
      404,
      "lead_not_found",
      false,
    ]);
    expect(items()).toBe(before);
  });
});

test.each([
  ["create-lead", "", 201],
  ["create-lead", "ifExists=update", 403],
  ["send-message", "", 403],
  ["list-leads", "", 403],
  ["list-conversations", "", 403],
] as const)("a key that may only create leads gets for %s?%s %i", async (name, query, status) => {
  const body = name === "create-lead" ? { name: "Ada" } : name === "send-message" ? {} : undefined;
  const response = await call(name, { account, access: "create", query, ...(body && { body }) });
  expect(response.status).toBe(status);
  const only = "This API key may only create leads, by POST /api/v1/leads without ifExists.";
  if (status === 403) expect(response.problem).toMatchObject({ code: "insufficient_access", detail: only });
});

/** Sends a request until it is not refused because others change the same. */
async function sendUntilTaken(body: object) {
  for (;;) {
    const response = await update(body);
    if (response.status !== 429) return response;
  }
}

test("of fifty connectors that store a new address at once, one makes its lead", async () => {
  using _ = skipWaits();
  const names = Array.from({ length: 50 }, (_, n) => ({
    name: `${n}`,
    ...whatsapp(n % 2 ? "+49 1" : "491"),
  }));
  const responses = await Promise.all(names.map(sendUntilTaken));
  expect(new Set(responses.map(({ body }) => body.id)).size).toBe(1);
  expect(responses.map(({ status }) => status).filter((status) => status === 201)).toHaveLength(1);
  expect(await list("")).toHaveLength(1);
});

test("an address that the item of a lead has, and another lead by its name, stays that of the other", async () => {
  const { id } = await aLead(account, whatsapp("1", "2"));
  const bob = await aLead(account);
  memory.put({ ...addressKey(account, "whatsapp", "1"), leadId: bob.id });
  expect((await update({ id, addresses: { whatsapp: null } })).status).toBe(200);
  const names = [...memory.items()].filter(({ pk }) => String(pk).startsWith("ADDRESS#"));
  expect(names).toEqual([{ ...addressKey(account, "whatsapp", "1"), leadId: bob.id }]);
});

test("a lead that has an address twice, as no request stores it, can be erased", async () => {
  const { id } = await aLead(account, whatsapp("1"));
  const item = [...memory.items()].find(({ sk }) => sk === id);
  memory.put({ ...item, addresses: { whatsapp: ["1", "(1)"] } } as Item);
  await beginErasure(account, id, new Pace(1e9));
  expect(items()).not.toContain("ADDRESS#");
});
