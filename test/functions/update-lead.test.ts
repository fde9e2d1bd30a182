import { randomUUID } from "node:crypto";
import { GetCommand, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { beforeEach, expect, test, vi } from "vitest";
import { externalIdKey, leadKey } from "../../shared/dynamodb/keys.ts";
import type { Item } from "../../shared/dynamodb/table-client.ts";
import { newId } from "../../shared/ids.ts";
import { call } from "../support/call.ts";
import { canceled } from "../support/cancellation.ts";
import { useMemoryTable } from "../support/memory-leads.ts";
import type { MemoryTable } from "../support/memory-table.ts";
import { aLead } from "../support/requests.ts";

let memory: MemoryTable;
/** Runs in place of the next call of a kind, once. */
let next: { readonly isIt: (command: object) => boolean; readonly run: () => unknown } | undefined;
beforeEach(() => {
  memory = useMemoryTable(async (command, send) => {
    if (!next?.isIt(command)) return send(command);
    const { run } = next;
    next = undefined;
    return run();
  });
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

test("an update with a key gets its first response again: after another change, and after the lead is gone", async () => {
  const { id } = await aLead(account, { externalId });
  const first = await update({ score: 1, metadata: { a: "1", b: "2" } }, "key");
  await update({ name: "Grace", score: 2 });
  const replays = [await update({ metadata: { b: "2", a: "1" }, score: 1 }, "key")];
  erase(id);
  replays.push(await update({ score: 1, metadata: { a: "1", b: "2" } }, "key"));
  for (const { status, body, headers } of replays) {
    expect([status, body, headers["idempotency-replayed"]]).toEqual([200, first.body, "true"]);
  }
  expect(first.body).toMatchObject({ id, name: "Ada Lovelace", score: 1 });
  expect(await find()).toEqual([]);
  expect((await update({ score: 3, metadata: { a: "1", b: "2" } }, "key")).status).toBe(422);
});

test("the same body with and without ifExists are two requests", async () => {
  const body = { name: "Ada", externalId };
  const headers = { "idempotency-key": "key" };
  expect((await call("create-lead", { account, body, headers })).status).toBe(201);
  expect((await update({ name: "Ada" }, "key")).status).toBe(422);
});

test("metadata is merged, and within its limits afterwards", async () => {
  const entries = (from: number, to: number, text = "x") =>
    Object.fromEntries(Array.from({ length: to - from }, (_, n) => [`n${from + n}`, text]));
  const { id } = await aLead(account, { externalId, metadata: entries(0, 6, "x".repeat(50)) });
  const message = "must have at most 10 names and 1024 bytes as JSON, with the entries that the lead has";
  const before = stored(leadKey(account, id));
  for (const metadata of [entries(6, 11), entries(6, 10, "x".repeat(200)), entries(6, 10, "ü".repeat(100))]) {
    const { status, problem } = await update({ metadata });
    expect([status, problem.errors]).toMatchObject([
      400,
      [{ field: "metadata", code: "too_large", message }],
    ]);
  }
  expect(stored(leadKey(account, id))).toEqual(before);
  const { body } = await update({ metadata: { ...entries(6, 11), n0: null } });
  expect(body.metadata).toEqual({ ...entries(1, 6, "x".repeat(50)), ...entries(6, 11) });
});

test("what another release has stored of a lead stays", async () => {
  const { id } = await aLead(account, { externalId, email: "ada@example.com", source: "web" });
  const { details, ...item } = stored(leadKey(account, id)) ?? {};
  memory.put({ ...item, other: 1, details: { ...Object(details), later: { x: 1 } } });
  expect((await update({ email: null, source: null })).status).toBe(200);
  const after = stored(leadKey(account, id));
  expect(after).toMatchObject({ other: 1, details: { later: { x: 1 }, name: "Ada Lovelace" } });
  const attributes = Object.keys({ ...after, ...Object(after?.details) });
  for (const name of ["email", "source", "byOrigin", "byStatusAndOrigin", "byParent"])
    expect(attributes).not.toContain(name);
});

test("a fault of an update says what leaving out means", async () => {
  await aLead(account, { externalId });
  const { problem } = await update({ tags: null, email: "", metadata: null });
  expect(problem.errors?.map(({ field, message }) => `${field} ${message}`)).toEqual([
    "email must not be empty: send null if it has no value",
    "tags must be an array, not null: leave it out to keep it",
    "metadata must be a JSON object, not null: leave it out to keep it",
  ]);
});

test("without a name, no lead is made", async () => {
  const { status, problem } = await update({ score: 5 });
  const message = "is required, because no lead has this externalId yet";
  expect([status, problem.errors]).toMatchObject([400, [{ field: "name", code: "required", message }]]);
  expect([...memory.items()]).toEqual([]);
});

test("a read that shows only a part of what stores a lead makes no second lead", async () => {
  const { id } = await aLead(account, { externalId });
  const isIt = (command: object) => command instanceof GetCommand && command.input.Key?.sk === id;
  next = { isIt, run: () => ({}) };
  const { status, body } = await update({ name: "Grace" });
  expect([status, body.id, next]).toEqual([200, id, undefined]);
});

test("an external id that another lead gets meanwhile is that of this lead", async () => {
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

test("a retry beside its first attempt gets the response of that, and no 409 of its own lead", async () => {
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

test("nothing is written if nothing differs, but the record of a key", async () => {
  await aLead(account, { externalId });
  const before = [...memory.items()];
  expect((await update({ name: "Ada Lovelace", tags: [], email: null, metadata: { a: null } })).status).toBe(
    200,
  );
  expect([...memory.items()]).toEqual(before);
  await update({ score: 0 }, "key");
  expect([...memory.items()].filter(({ pk }) => !String(pk).startsWith("IDEMPOTENCY#"))).toEqual(before);
});

test.each<[string, unknown, boolean, boolean]>([
  ["a lead that does not exist", newId("lead"), false, true],
  ["a lead that does not exist", newId("lead"), false, false],
  ["no id", "lead_1", true, true],
  ["nothing", undefined, false, false],
  ["another lead", "other", true, false],
])("an external id that names %s becomes that of the next lead", async (_, planted, isLogged, isUpdate) => {
  const logged = vi.spyOn(console, "error").mockImplementation(() => {});
  const other = await aLead(account, { externalId: "crm-2" });
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
  expect(logged.mock.calls.flat().some(({ pk, field }) => pk === key.pk && field === "leadId")).toBe(
    isLogged,
  );
});
