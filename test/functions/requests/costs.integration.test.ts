import { readFileSync } from "node:fs";
import { TransactGetCommand } from "@aws-sdk/lib-dynamodb";
import { beforeEach, expect, test, vi } from "vitest";
import { updateConversation } from "../../../shared/domain/conversations/update-conversation.ts";
import { tableName as TableName, table, takeUnits } from "../../../shared/dynamodb/table-client.ts";
import { call } from "../../support/requests/call.ts";
import { aLead, aMessage, report, setStatus } from "../../support/requests/requests.ts";

const account = "acme";
const lead = { name: "Ada Lovelace", email: "ada@example.com", source: "website", tags: ["math"] };

let logged = vi.spyOn(console, "info");
let sent = vi.spyOn(table, "send");
beforeEach(() => {
  logged = vi.spyOn(console, "info").mockImplementation(() => {});
  sent = vi.spyOn(table, "send");
  takeUnits();
});

/** Sends a request. @returns the number of calls of the table, and their units by the log line of the request */
async function cost(send: () => Promise<unknown>) {
  sent.mockClear();
  await send();
  const [{ event, reads: read, writes: write }] = logged.mock.lastCall ?? [{}];
  expect(event).toBe("request");
  return { calls: sent.mock.calls.length, read, write };
}

type Step = readonly [
  send: () => Promise<unknown>,
  calls: number,
  read: number,
  write: number,
  documented?: string,
];

/** Expects the costs of requests, one after another. Those of documented writes are in the table of docs/bench/pages.md. */
async function expectCosts(...steps: readonly Step[]): Promise<void> {
  const page = readFileSync("docs/bench/pages.md", "utf8");
  for (const [n, [send, calls, read, write, documented]] of steps.entries()) {
    expect([n, await cost(send)]).toEqual([n, { calls, read, write }]);
    if (documented) expect(page).toContain(`\n| ${documented} | ${write} | ${read} |`);
  }
}

const keyed = (key = "") => ({ account, ...(key && { headers: { "idempotency-key": key } }) });
const create = (fields: object, key?: string) => call("create-lead", { ...keyed(key), body: fields });
const update = (fields: object, key?: string) =>
  call("create-lead", { ...keyed(key), query: "ifExists=update", body: fields });
const find = (query: string) => call("list-leads", { account, query });
const send = (leadId: string, key?: string) =>
  call("send-message", { ...keyed(key), body: { leadId, channel: "whatsapp", message: "Hello" } });

test("an Idempotency-Key costs its record and the price of a transaction, and no read", async () => {
  const { id } = await aLead(account);
  await expectCosts(
    // A lead has its item and five index entries, a conversation the lock as well.
    [() => create(lead), 1, 0, 6, "A lead with an email address and a source"],
    [() => create(lead, "c-1"), 1, 0, 6 + 1 + 2, "The same, with `Idempotency-Key`"],
    [() => send(id), 3, 2, 11, "A message that starts a conversation"],
    // A message writes only the index by activity: its conversation leaves one place and takes another.
    [() => send(id), 3, 2, 4 + 2, "A message that joins a conversation"],
  );
  const { conversationId } = (await send(id)).body;
  for (const status of ["paused", "active"])
    await updateConversation(account, { id: conversationId, status });
  // The units of these changes belong to no request.
  takeUnits();
  await expectCosts(
    // The first message after a change removes its mark.
    [() => send(id), 3, 2, 6],
    [() => send(id, "c-1"), 3, 2, 6 + 2, "The same, with `Idempotency-Key`"],
    // The call that fails on the existing record reports no cost. A read checks whether the lead still exists.
    [() => create(lead, "c-1"), 2, 1, 0],
    [() => send(id, "c-1"), 3, 2, 0],
  );
});

test("a message that changes since when a lead waits costs one more unit, and a late report costs one read", async () => {
  const { id } = await aLead(account);
  const message = await aMessage(account, id, "sms");
  const body = { leadId: id, channel: "sms", message: "Hello" };
  const next = (direction: string, key?: string) => () =>
    call("send-message", { ...keyed(key), body: { ...body, direction } });
  const reported = (delivery: string) => () => report(account, message, { delivery });
  const end = () => setStatus(account, message.conversationId, "closed");
  await expectCosts(
    [next("outbound"), 3, 2, 6],
    [next("inbound"), 3, 2, 7],
    [next("inbound"), 3, 2, 6],
    [next("inbound", "c-2"), 3, 2, 8],
    [next("outbound"), 3, 2, 7],
    [reported("delivered"), 2, 1, 1, "A report of how far a message has got"],
    [reported("sent"), 1, 1, 0],
    [reported("failed"), 1, 1, 0],
    [reported("delivered"), 1, 1, 0],
    [end, 2, 1, 8],
    [end, 1, 1, 0],
  );
  await setStatus(account, message.conversationId, "active");
  await next("inbound")();
  await expectCosts([end, 2, 1, 9]);
});

test("each name of a lead costs its item and the price of a transaction; an update costs its changes and the reads that find the lead", async () => {
  const addresses = (...whatsapp: string[]) => ({ addresses: { whatsapp } });
  const externalId = "crm-1";
  await expectCosts(
    [() => create({ ...lead, externalId }), 1, 0, 6 + 3, "The same, with `externalId`"],
    [() => create({ ...lead, ...addresses("+49 1") }), 1, 0, 6 + 3],
    [() => create({ ...lead, ...addresses("+49 2", "+49 3") }, "c-2"), 1, 0, 9 + 2 * 2],
  );
  const { id } = (await create({ ...lead, externalId: "crm-2", ...addresses("+49 4") })).body;
  await expectCosts(
    // The lead leaves its place by activity and takes another, and each other index copies its fields.
    [() => update({ externalId, name: "Grace" }), 3, 2, 5 + 2, "A change of a lead's name, by `externalId`"],
    [() => update({ externalId, name: "Grace" }), 2, 2, 0],
    // The lead leaves two more places, and takes two others.
    [() => update({ id, status: "booked" }), 2, 1, 7 + 2, "A change of a lead's status"],
    [() => update({ externalId, score: 1 }, "key"), 3, 2, 7 + 3],
    [() => update({ id, name: "Grace" }), 2, 1, 7],
    [() => update({ ...addresses("49 4"), score: 1 }), 3, 2, 7],
    [() => update({ id, ...addresses("+49 4"), score: 2 }), 3, 2, 7],
    [() => update({ id, ...addresses("+49 5") }), 3, 2, 7 + 3],
    // Each address that is removed also costs a read.
    [() => update({ id, addresses: { whatsapp: null } }), 4, 3, 8 + 2 * 2],
    [() => update({ id, ...addresses("+49 4") }), 3, 2, 7 + 3],
    // A message costs what it costs without an address.
    [() => send(id), 3, 2, 11],
    [() => send(id), 3, 2, 6],
    [() => find("externalId=crm-2"), 2, 2, 0],
    [() => find("address=whatsapp:%2B494"), 2, 2, 0],
  );
});

test("a transaction that reads consumes read units: two for an item", async () => {
  const Get = { TableName, Key: { pk: "COUNT#acme#LEAD", sk: "root" } };
  await table.send(new TransactGetCommand({ TransactItems: [{ Get }] }));
  expect(takeUnits()).toEqual({ reads: 2, writes: 0 });
});
