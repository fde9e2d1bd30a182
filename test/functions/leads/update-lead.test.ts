import { randomUUID } from "node:crypto";
import { ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import { GetCommand, TransactGetCommand, TransactWriteCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { beforeEach, expect, test, vi } from "vitest";
import { leadItem } from "../../../shared/domain/leads.ts";
import { addressKey, externalIdKey, leadKey } from "../../../shared/dynamodb/keys.ts";
import { type Item, table } from "../../../shared/dynamodb/table-client.ts";
import { newId } from "../../../shared/ids.ts";
import { stopClock } from "../../support/cases/virtual-time.ts";
import { call } from "../../support/requests/call.ts";
import { aLead } from "../../support/requests/requests.ts";
import { canceled } from "../../support/tables/cancellation.ts";
import { useTable } from "../../support/tables/watched-table.ts";

const { memory } = useTable();
/** Runs in place of the next call of a kind, once. */
let next: { readonly isIt: (command: object) => boolean; readonly run: () => unknown } | undefined;
beforeEach(() => {
  stopClock();
  vi.spyOn(table, "send").mockImplementation((async (command: object) => {
    if (!next?.isIt(command)) return memory.send(command);
    const { run } = next;
    next = undefined;
    return run();
  }) as never);
  account = randomUUID();
});

let account: string;
const externalId = "crm-1";

const update = (body: object, key?: string) =>
  call("create-lead", {
    ...{ account, query: "ifExists=update", body: { externalId, ...body } },
    ...(key && { headers: { "idempotency-key": key } }),
  });

const find = async (ids = externalId) =>
  (await call("list-leads", { account, query: `externalId=${ids}` })).body.data;

/** The item of a key. */
const stored = ({ pk, sk }: Item) => [...memory.items()].find((item) => item.pk === pk && item.sk === sk);

/** Deletes a lead as an erasure does. */
function erase(id: string) {
  memory.delete(leadKey(account, id));
  memory.delete(externalIdKey(account, externalId));
}

test("an update keeps the fields that another release has stored in a lead", async () => {
  const { id } = await aLead(account, { externalId, email: "ada@example.com", source: "web" });
  const { details, ...item } = stored(leadKey(account, id)) ?? {};
  memory.put({ ...item, other: 1, details: { ...Object(details), later: { x: 1 } } });
  expect((await update({ email: null, source: null })).status).toBe(200);
  const after = stored(leadKey(account, id));
  expect(after).toMatchObject({ other: 1, details: { later: { x: 1 }, name: "Ada Lovelace" } });
  const attributes = Object.keys({ ...after, ...Object(after?.details) });
  for (const name of ["email", "source", "byLabel", "byStatusAndLabel", "byParent"])
    expect(attributes).not.toContain(name);
});

test("the message of an update's fault says whether to leave a field out or to send null", async () => {
  await aLead(account, { externalId });
  const { problem } = await update({ tags: null, email: "", metadata: null });
  expect(problem.errors?.map(({ field, message }) => `${field} ${message}`)).toEqual([
    "email must not be empty: send null if it has no value",
    "tags must be an array, not null: leave it out to keep it",
    "metadata must be a JSON object, not null: leave it out to keep it",
  ]);
});

test("an update adds no address to the ten that a lead has, of all channels, and can replace them", async () => {
  const { id } = await aLead(account, { externalId, addresses: { sms: [..."123456"], web: [..."789"] } });
  expect((await update({ addresses: { sms: ["6", "7"] } })).status).toBe(200);
  const { problem } = await update({ addresses: { fax: ["1"] } });
  expect(problem.errors).toMatchObject([
    {
      ...{ field: "addresses", code: "too_many" },
      message: "must have at most 10 addresses of all channels, with those that the lead has",
    },
  ]);
  const { body } = await update({ addresses: { web: null, fax: ["1"] } });
  expect(body).toMatchObject({ id, addresses: { sms: [..."1234567"], fax: ["1"] } });
});

test("an update creates no second lead if a read shows its external id, but not the lead yet", async () => {
  const { id } = await aLead(account, { externalId });
  const isIt = (command: object) => command instanceof GetCommand && command.input.Key?.sk === id;
  next = { isIt, run: () => ({}) };
  const { status, body } = await update({ name: "Grace" });
  expect([status, body.id, next]).toEqual([200, id, undefined]);
});

test("a retry returns the new lead even if a read does not show it yet", async () => {
  const first = await update({ name: "Ada" }, "key");
  const isIt = (command: object) => command instanceof GetCommand && command.input.Key?.sk === first.body.id;
  next = { isIt, run: () => ({}) };
  const { status, body } = await update({ name: "Ada" }, "key");
  expect([status, body, next]).toEqual([201, first.body, undefined]);
});

test("if another lead gets the external id meanwhile, the update changes that lead", async () => {
  const { id } = await aLead(account, { externalId });
  const isIt = (command: object) => command instanceof GetCommand && command.input.Key?.sk === id;
  let other: string | undefined;
  const run = async () => {
    erase(id);
    ({ id: other } = await aLead(account, { externalId }));
    return {};
  };
  next = { isIt, run };
  const { status, body } = await update({ name: "Grace" });
  expect([status, body.id]).toEqual([200, other]);
  expect(await find()).toEqual([body]);
});

test("a retry that conflicts with the first attempt returns the first response, and no 409 because of its own lead", async () => {
  const headers = { "idempotency-key": "key" };
  const send = () => call("create-lead", { account, headers, body: { name: "Ada", externalId } });
  const { body } = await send();
  next = {
    isIt: (command) => command instanceof TransactWriteCommand,
    run: () => {
      throw canceled("TransactionConflict", "None", "ConditionalCheckFailed");
    },
  };
  const retry = await send();
  expect([retry.status, retry.body, next]).toEqual([201, body, undefined]);
});

test.each<[string, unknown, boolean]>([
  ["a lead that does not exist", newId("lead"), true],
  ["a lead that does not exist", newId("lead"), false],
  ["a text that is no id", "lead_1", true],
  ["nothing", undefined, false],
  ["another lead", "other", false],
])("an external id whose item names %s is given to the next lead", async (_, planted, isUpdate) => {
  const other = await aLead(account, { externalId: "crm-2" });
  vi.setSystemTime(Date.now() + 1);
  const key = externalIdKey(account, externalId);
  memory.put({ ...key, leadId: planted === "other" ? other.id : planted });
  const found = await call("list-leads", { account, query: `externalId=${externalId}` });
  expect(found.body).toMatchObject({ data: [], pagination: { total: 0 } });
  const create = () => call("create-lead", { account, body: { name: "Grace", externalId } });
  const { status, body } = await (isUpdate ? update({ name: "Grace" }) : create());
  expect([status, body.externalId]).toEqual([201, externalId]);
  const query = `externalId=${externalId},crm-2`;
  const { data, pagination } = (await call("list-leads", { account, query })).body;
  expect([data, pagination.total]).toEqual([[body, other], 2]);
});

/** Intercepts the next update, or another command. @param meanwhile what happens before @returns the sent commands */
function nextUpdate(
  meanwhile: () => unknown = () => {},
  kind: typeof UpdateCommand | typeof TransactGetCommand | typeof TransactWriteCommand = UpdateCommand,
): object[] {
  const sent: object[] = [];
  const isIt = (command: object) => command instanceof kind && sent.push(command) > 0;
  const run = async () => {
    await meanwhile();
    return memory.send(sent[0] ?? {});
  };
  next = { isIt, run };
  return sent;
}

test("a late second attempt does not repeat a change that was undone meanwhile", async () => {
  const { name } = await aLead(account, { externalId });
  const first = nextUpdate();
  await update({ name: "Grace" });
  await update({ name });
  await expect(memory.send(first[0] ?? {})).rejects.toThrow(ConditionalCheckFailedException);
  expect(await find()).toMatchObject([{ name }]);
});

test("a lead whose status and source are changed at the same moment is listed by both", async () => {
  const lead = await aLead(account, { externalId, source: "web" });
  nextUpdate(() => memory.put(leadItem(account, { ...lead, status: "booked" })));
  expect((await update({ source: "fair" })).body).toMatchObject({ source: "fair", status: "booked" });
  const { body } = await call("list-leads", { account, query: "source=fair&status=booked" });
  expect(body.data).toMatchObject([{ id: lead.id }]);
});

test.each<[string, { readonly addresses: object }, (other: string) => unknown]>([
  [
    "another lead loses the address",
    { addresses: { sms: ["1"] } },
    (id) => update({ externalId: undefined, id, addresses: { sms: null } }),
  ],
  [
    "the lead that has the address is erased",
    { addresses: { sms: ["1"] } },
    (id) => memory.delete(leadKey(account, id)),
  ],
  [
    "another lead gets an address that no lead had",
    { ...{ externalId: undefined }, addresses: { sms: ["2"] } },
    () => aLead(account, { addresses: { sms: ["2"] } }),
  ],
])("an update is not refused if %s between its reads", async (_, body, meanwhile) => {
  await aLead(account, { externalId });
  const { id: other } = await aLead(account, { addresses: { sms: ["1"] } });
  const sent = nextUpdate(() => meanwhile(other), TransactGetCommand);
  const response = await update(body);
  expect([response.status, response.body.addresses, sent.length]).toEqual([200, body.addresses, 1]);
});

test("an address that another lead gets while it is removed from a lead stays with the other lead", async () => {
  const { id } = await aLead(account, { addresses: { sms: ["1"] } });
  const name = { ...addressKey(account, "sms", "1"), leadId: (await aLead(account)).id };
  const sent = nextUpdate(() => memory.put(name), TransactWriteCommand);
  const { status, body } = await update({ externalId: undefined, id, addresses: { sms: null } });
  expect([status, body.addresses, stored(name), sent.length]).toEqual([200, undefined, name, 1]);
});
