import {
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
} from "@aws-sdk/lib-dynamodb";
import { beforeEach, describe, expect, test } from "vitest";
import { call } from "../support/call.ts";
import { mockClient } from "../support/mocked-client.ts";
import { idOf, storedConversation, storedLead } from "../support/stored.ts";

const table = mockClient(DynamoDBDocumentClient);
beforeEach(() => {
  table.reset();
  table.on(GetCommand).resolves({});
});

const message = { leadId: "lead_1", channel: "whatsapp", message: "Hello" };
const reads = () => table.commandCalls(GetCommand).map(({ args }) => args[0].input);
const queries = () => table.commandCalls(QueryCommand).map(({ args }) => args[0].input);

describe("reads the base table consistently", () => {
  test("for the lead, of which it needs no field, and the pointer to its conversation", async () => {
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
    ["list-leads", "id=lead_1&status=new", { pk: "LEAD#acme", sk: "lead_1" }],
    ["list-conversations", "id=conv_1&leadId=lead_1", { pk: "CONVERSATION#acme", sk: "conv_1" }],
  ] as const)("for %s with %s, by the key alone", async (name, query, Key) => {
    await call(name, { query });
    expect(reads()).toMatchObject([{ Key, ConsistentRead: true }]);
    expect(queries()).toEqual([]);
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

// DynamoDB rejects a consistent read of a global secondary index.
describe("reads an index eventually consistently", () => {
  test.each([
    ["list-leads", "status=new", "by-status"],
    ["list-leads", "source=web", "by-origin"],
    ["list-leads", "status=new&source=web", "by-status-and-origin"],
    ["list-leads", "email=ada@example.com", "by-parent"],
    ["list-leads", "email=ada@example.com&status=new&source=web", "by-parent"],
    ["list-conversations", "status=active", "by-status"],
    ["list-conversations", "channel=web", "by-origin"],
    ["list-conversations", "status=active&channel=web", "by-status-and-origin"],
    ["list-conversations", "leadId=lead_1", "by-parent"],
    ["list-conversations", "leadId=lead_1&status=active&channel=web", "by-parent"],
  ] as const)("for %s with %s", async (name, query, index) => {
    table.on(QueryCommand).resolves({ Items: [], Count: 0 });
    await call(name, { query });
    expect(queries()).toMatchObject([{ IndexName: index }]);
    expect(queries()[0]?.ConsistentRead).not.toBe(true);
  });
});

describe("a write, also with a name in another letter case:", () => {
  const calls = () => table.calls().map(({ args: [command] }) => command.constructor.name);

  test("create-lead writes the lead", async () => {
    table.on(PutCommand).resolves({});
    const { body } = await call("create-lead", { body: { name: "Ada", source: "Web" } });
    expect(body.source).toBe("web");
    expect(calls()).toEqual(["PutCommand"]);
  });

  test("create-lead with an Idempotency-Key writes the lead and a record with its id", async () => {
    table.on(TransactWriteCommand).resolves({});
    const headers = { "idempotency-key": "key-1" };
    const { body } = await call("create-lead", { body: { name: "Ada", source: "Web" }, headers });
    expect(calls()).toEqual(["TransactWriteCommand"]);
    expect(record()).toMatchObject({ ids: { id: body.id } });
    expect(Object.keys(record()?.ids)).toEqual(["id"]);
  });

  test("send-message reads the lead and the pointer, and writes in one transaction", async () => {
    table.on(GetCommand).resolves({ Item: { conversationId: idOf("conv", 1) } });
    table.on(TransactWriteCommand).resolves({});
    const headers = { "idempotency-key": "key-1" };
    const { body } = await call("send-message", { body: { ...message, channel: "WhatsApp" }, headers });
    expect(body.channel).toBe("whatsapp");
    expect(calls()).toEqual(["GetCommand", "GetCommand", "TransactWriteCommand"]);
    expect(reads()[1]).toMatchObject({ Key: { pk: "ACTIVE#acme#lead_1", sk: "whatsapp" } });
    expect(record()?.ids).toEqual({ id: body.id, conversationId: idOf("conv", 1) });
  });

  /** The idempotency record that a transaction writes. */
  const record = () =>
    table.commandCalls(TransactWriteCommand)[0]?.args[0].input.TransactItems?.[0]?.Put?.Item;
});

describe("a first page", () => {
  const rows = (count: number) =>
    Array.from({ length: count }, (_, i) => storedLead(`${idOf("lead", 0).slice(0, -2)}${10 + i}`));

  test.each([0, 3, 19])("that holds all %i leads takes one query", async (count) => {
    table.on(QueryCommand).resolves({ Items: rows(count), Count: count });
    const { body } = await call("list-leads");
    expect(body.data).toHaveLength(count);
    expect(body.pagination.total).toBe(count);
    expect(queries()).toMatchObject([{ Limit: 20, Select: "ALL_ATTRIBUTES" }]);
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
      { Limit: 20, Select: "ALL_ATTRIBUTES" },
      { ProjectionExpression: "sk", ExpressionAttributeValues: { ":before": last } },
    ]);
  });
});

test("a new lead replaces nothing", async () => {
  table.on(PutCommand).resolves({});
  await call("create-lead", { body: { name: "Ada" } });
  const puts = table.commandCalls(PutCommand).map(({ args }) => args[0].input);
  expect(puts).toMatchObject([{ ConditionExpression: "attribute_not_exists(pk)" }]);
});
