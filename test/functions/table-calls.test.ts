import {
  BatchGetCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
} from "@aws-sdk/lib-dynamodb";
import { beforeEach, describe, expect, test } from "vitest";
import { call } from "../support/call.ts";
import { putLeads } from "../support/memory-leads.ts";
import { mockClient } from "../support/mocked-client.ts";
import { idOf, storedConversation, storedLead } from "../support/stored.ts";
import { WatchedTable } from "../support/watched-table.ts";

const table = mockClient(DynamoDBDocumentClient);

beforeEach(() => {
  table.reset();
  table.on(GetCommand).resolves({});
});

const message = { leadId: "lead_1", channel: "whatsapp", message: "Hello" };

const reads = () => table.commandCalls(GetCommand).map(({ args }) => args[0].input);
const queries = () => table.commandCalls(QueryCommand).map(({ args }) => args[0].input);
const writes = () =>
  table.commandCalls(TransactWriteCommand).map(({ args }) => args[0].input.TransactItems ?? []);

describe("reads the base table consistently", () => {
  test("for the lead, of which it needs no field, and the lock that names its conversation", async () => {
    table.on(GetCommand).resolves({ Item: { conversationId: idOf("conv", 1) } });
    table.on(TransactWriteCommand).resolves({});
    expect((await call("send-message", { body: message })).status).toBe(201);
    expect(reads()).toMatchObject([
      { Key: { pk: "LEAD#acme", sk: "lead_1" }, ConsistentRead: true, ProjectionExpression: "pk" },
      { Key: { pk: "ACTIVE#acme#lead_1", sk: "whatsapp" }, ConsistentRead: true },
    ]);
  });

  test("for the idempotency record of a request whose lead was deleted", async () => {
    const headers = { "idempotency-key": "key-1" };
    expect((await call("send-message", { body: message, headers })).status).toBe(404);
    expect(reads()).toHaveLength(3);
    expect(reads()[2]).toMatchObject({ Key: { pk: "IDEMPOTENCY#acme#key-1" }, ConsistentRead: true });
  });

  test.each([
    ["list-leads", "status=new", "LEAD#acme", "lead"],
    ["list-conversations", "leadId=lead_1", "CONVERSATION#acme", "conv"],
  ] as const)("for ids of %s with %s: each once, in one call, and none that cannot exist", async (name, filter, pk, prefix) => {
    const ids = [1, 2, 1].map((n) => idOf(prefix, n));
    table.on(BatchGetCommand).resolves({});
    await call(name, { query: `${filter}&id=${ids},${prefix}` });
    const batches = table.commandCalls(BatchGetCommand).map(({ args }) => args[0].input.RequestItems);
    const Keys = ids.slice(0, 2).map((sk) => ({ pk, sk }));
    expect(batches.flatMap((batch) => Object.values(batch ?? {}))).toEqual([{ Keys, ConsistentRead: true }]);
    expect([...reads(), ...queries()]).toEqual([]);
  });

  test.each([
    ["list-leads", storedLead(idOf("lead", 1))],
    ["list-conversations", storedConversation(idOf("conv", 1))],
  ] as const)("for %s without a filter, in every query", async (name, item) => {
    const more = { Items: [item], Count: 1, LastEvaluatedKey: { sk: "1" } };
    table.on(QueryCommand).resolvesOnce(more).resolvesOnce(more).resolves({ Count: 0 });
    await call(name, { query: "page=2&limit=1" });
    expect(queries()).toHaveLength(3);
    for (const query of queries())
      expect(query).toMatchObject({ IndexName: undefined, ConsistentRead: true });
  });
});

describe("a write, also with a name in another letter case:", () => {
  const calls = () => table.calls().map(({ args: [command] }) => command.constructor.name);
  const record = () => writes()[0]?.[0]?.Put?.Item;

  test("create-lead writes the lead, which replaces nothing", async () => {
    table.on(PutCommand).resolves({});
    const { body } = await call("create-lead", { body: { name: "Ada", source: "Web" } });
    expect(body.source).toBe("web");
    expect(calls()).toEqual(["PutCommand"]);
    const [put] = table.commandCalls(PutCommand);
    expect(put?.args[0].input.ConditionExpression).toBe("attribute_not_exists(pk)");
  });

  test("create-lead with an Idempotency-Key writes the lead and a record with its id", async () => {
    table.on(TransactWriteCommand).resolves({});
    const headers = { "idempotency-key": "key-1" };
    const { body } = await call("create-lead", { body: { name: "Ada", source: "Web" }, headers });
    expect(calls()).toEqual(["TransactWriteCommand"]);
    expect(record()).toMatchObject({ ids: { id: body.id } });
    expect(Object.keys(record()?.ids)).toEqual(["id"]);
  });
});

describe("a first page", () => {
  const rows = (count: number) =>
    Array.from({ length: count }, (_, i) => storedLead(`${idOf("lead", 0).slice(0, -2)}${10 + i}`));

  test.each([0, 3, 19])("that holds all %i leads takes one query", async (count) => {
    table.on(QueryCommand).resolves({ Items: rows(count), Count: count });
    const { body } = await call("list-leads");
    expect(body.data).toHaveLength(count);
    expect(body.pagination.total).toBe(count);
    expect(queries()).toMatchObject([{ Limit: 20, ConsistentRead: true }]);
    expect(queries()[0]).not.toHaveProperty("ProjectionExpression");
  });

  test("that is full with all leads takes a second query, because DynamoDB does not say that no more follow", async () => {
    const last = rows(20).at(-1)?.sk;
    table
      .on(QueryCommand)
      .resolvesOnce({ Items: rows(20), Count: 20, LastEvaluatedKey: { sk: last } })
      .resolves({ Count: 0 });
    const { body } = await call("list-leads", { query: "limit=20" });
    expect(body.data).toHaveLength(20);
    expect(body.pagination.total).toBe(20);
    expect(queries()).toMatchObject([
      { Limit: 20 },
      { ProjectionExpression: "sk", ExpressionAttributeValues: { ":before": last } },
    ]);
  });
});

test("a hundred ids take one call, and a unit each", async () => {
  const table = new WatchedTable();
  const items = putLeads(table.memory, "acme", 100);
  const ids = items.map(({ id }) => id);
  const { result, calls, units } = await table.watch(() =>
    call("list-leads", { query: `limit=100&id=${ids}` }),
  );
  expect(result.body.data.map(({ id }) => id)).toEqual(ids.reverse());
  expect(calls.map(({ name }) => name)).toEqual(["BatchGetCommand"]);
  expect(units).toBe(100);
});
