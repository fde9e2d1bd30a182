import {
  BatchGetCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
} from "@aws-sdk/lib-dynamodb";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { idempotentRequest } from "../../shared/domain/idempotent-replay.ts";
import { call } from "../support/call.ts";
import { canceled } from "../support/cancellation.ts";
import { mockClient } from "../support/mocked-client.ts";
import { idOf, storedConversation, storedLead } from "../support/stored.ts";

const table = mockClient(DynamoDBDocumentClient);

beforeEach(() => {
  vi.spyOn(console, "error").mockImplementation(() => {});
  table.reset();
  table.on(GetCommand).resolves({});
});

const conversationId = idOf("conv", 1);
const message = { leadId: "lead_1", channel: "whatsapp", message: "Hello" };

/** The lead exists and its pointer names this conversation. */
function withActiveConversation(conversationId: string, leadId = "lead_1") {
  table.on(GetCommand, { Key: { pk: "LEAD#acme", sk: leadId } }).resolves({ Item: { pk: "LEAD#acme" } });
  table
    .on(GetCommand, { Key: { pk: `ACTIVE#acme#${leadId}`, sk: "whatsapp" } })
    .resolves({ Item: { conversationId } });
}

const reads = () => table.commandCalls(GetCommand).map(({ args }) => args[0].input);
const queries = () => table.commandCalls(QueryCommand).map(({ args }) => args[0].input);
const writes = () =>
  table.commandCalls(TransactWriteCommand).map(({ args }) => args[0].input.TransactItems ?? []);

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

test("a list continues where a partial response ended", async () => {
  const id = (n: number) => idOf("lead", n);
  table
    .on(QueryCommand)
    .resolvesOnce({ Items: [storedLead(id(5))], LastEvaluatedKey: { sk: id(5) } })
    .resolvesOnce({ Items: [], LastEvaluatedKey: { sk: `${id(5)}a` } })
    .resolvesOnce({ Items: [storedLead(id(4))], LastEvaluatedKey: { sk: id(4) } })
    .resolvesOnce({ Items: [{ sk: id(3) }], LastEvaluatedKey: { sk: id(3) } })
    .resolvesOnce({ Items: [{ sk: id(2) }, { sk: id(1) }] });
  const { body } = await call("list-leads", { query: "limit=2" });
  expect(body.data.map(({ id }) => id)).toEqual([id(5), id(4)]);
  expect(body.pagination.total).toBe(5);
  const queries = table.commandCalls(QueryCommand).map(({ args }) => args[0].input);
  expect(queries.map(({ ExclusiveStartKey }) => ExclusiveStartKey?.sk)).toEqual([
    undefined,
    id(5),
    `${id(5)}a`,
    undefined,
    id(3),
  ]);
  expect(queries[3]?.ExpressionAttributeValues).toMatchObject({ ":before": id(4) });
});

describe("a message whose transaction", () => {
  // On a busy machine, the time for retries would be up before they are made.
  beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }));

  test.each([
    ["without", {}, []],
    ["with", { "idempotency-key": "key-1" }, [{ Code: "None" }]],
  ])("finds the conversation closed starts another and replaces the pointer: %s a key", async (_, headers, record) => {
    withActiveConversation(conversationId);
    const ended = canceled("ConditionalCheckFailed", "None");
    const reason = { Code: "ConditionalCheckFailed", Item: { status: { S: "closed" } } };
    ended.CancellationReasons = [...record, reason, { Code: "None" }];
    table.on(TransactWriteCommand).rejectsOnce(ended).resolves({});
    const { status, body } = await call("send-message", { body: message, headers });
    expect(status).toBe(201);
    expect(body.conversationId).not.toBe(conversationId);
    expect(writes()[1]?.[record.length]?.Put).toMatchObject({
      Item: { conversationId: body.conversationId },
      ConditionExpression: "conversationId = :read",
      ExpressionAttributeValues: { ":read": conversationId },
    });
  });

  test("loses the race to start the conversation joins the winner's", async () => {
    table.on(GetCommand, { Key: { pk: "LEAD#acme", sk: "lead_1" } }).resolves({ Item: { pk: "LEAD#acme" } });
    table
      .on(GetCommand, { Key: { pk: "ACTIVE#acme#lead_1", sk: "whatsapp" } })
      .resolvesOnce({})
      .resolves({ Item: { conversationId: idOf("conv", 9) } });
    table
      .on(TransactWriteCommand)
      .rejectsOnce(canceled("ConditionalCheckFailed", "None", "None"))
      .resolves({});
    const { body } = await call("send-message", { body: message });
    expect(body.conversationId).toBe(idOf("conv", 9));
    expect(writes()[0]?.[0]?.Put).toMatchObject({
      Item: { pk: "ACTIVE#acme#lead_1", sk: "whatsapp" },
      ConditionExpression: "attribute_not_exists(conversationId)",
    });
  });
});

describe("a request with an Idempotency-Key", () => {
  const headers = { "idempotency-key": "key-1" };

  /** The cancellation of a transaction of this many items that found an idempotency record. */
  function recordFound(items: number, body: Record<string, string>, ids: Record<string, string>) {
    const { fingerprint } = idempotentRequest("acme", "create-lead", "key-1", body);
    const error = canceled("ConditionalCheckFailed", ...Array.from({ length: items - 1 }, () => "None"));
    const M = Object.fromEntries(Object.entries(ids).map(([name, S]) => [name, { S }]));
    const Item = { fingerprint: { S: fingerprint }, ids: { M }, expiresAt: { N: "1800000000" } };
    error.CancellationReasons = [
      { Code: "ConditionalCheckFailed", Item },
      ...(error.CancellationReasons ?? []).slice(1),
    ];
    return error;
  }

  test("that races with its duplicate retries after the conflict and returns the duplicate's response", async () => {
    const id = "lead_01JZ0000000000000000000000";
    table
      .on(TransactWriteCommand)
      .rejectsOnce(canceled("TransactionConflict", "None"))
      .rejects(recordFound(2, { name: "Ada" }, { id }));
    const {
      status,
      headers: responseHeaders,
      body,
    } = await call("create-lead", { body: { name: "Ada" }, headers });
    expect([status, responseHeaders["idempotency-replayed"], body.id, body.name]).toEqual([
      201,
      "true",
      id,
      "Ada",
    ]);
    expect(writes()).toHaveLength(2);
  });

  test("gets the response of its record, even if other conditions fail too", async () => {
    withActiveConversation(conversationId);
    const ids = { id: "msg_01JZ0000000000000000000000", conversationId: idOf("conv", 0) };
    const error = recordFound(3, message, ids);
    const [first, ...others] = error.CancellationReasons ?? [];
    error.CancellationReasons = [
      { ...first },
      { ...others[0], Code: "ConditionalCheckFailed" },
      { Code: "None" },
    ];
    table.on(TransactWriteCommand).rejects(error);
    const { status, body } = await call("send-message", { body: message, headers });
    expect(status).toBe(201);
    expect(body).toMatchObject({ ...message, ...ids });
  });

  test("creates new ids for each attempt and records those of the attempt that was written", async () => {
    table.on(TransactWriteCommand).rejectsOnce(canceled("None", "TransactionConflict")).resolves({});
    const { body } = await call("create-lead", { body: { name: "Ada" }, headers });
    const [lost, written] = writes().map(([record, lead]) => [
      record?.Put?.Item?.ids.id,
      lead?.Put?.Item?.id,
    ]);
    expect(written).toEqual([body.id, body.id]);
    expect(lost?.[0]).toBe(lost?.[1]);
    expect(lost?.[0]).not.toBe(body.id);
  });
});
