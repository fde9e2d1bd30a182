import { ProvisionedThroughputExceededException } from "@aws-sdk/client-dynamodb";
import {
  DeleteCommand,
  DynamoDBDocumentClient,
  PutCommand,
  TransactWriteCommand,
} from "@aws-sdk/lib-dynamodb";
import { beforeEach, expect, test, vi } from "vitest";
import { Pace } from "../../../../lib/ops/pace.ts";
import { toChanges, writeChanges } from "../../../../lib/ops/restore/changes.ts";
import { isNew, type Restoration } from "../../../../lib/ops/restore/restoration.ts";
import { newId } from "../../../../shared/ids.ts";
import { mockClient } from "../../../support/mocked-client.ts";

const dynamodb = mockClient(DynamoDBDocumentClient);
beforeEach(() => dynamodb.reset());

const key = { pk: "LEAD#acme", sk: "lead_1" };
const pace = (wait = vi.fn(async () => {})) => new Pace(1500, wait);

test("equal items are no change, in whatever order their attributes are", () => {
  expect(toChanges(key, { ...key, a: 1, tags: ["x"] }, { tags: ["x"], a: 1, ...key })).toEqual([]);
  expect(toChanges(key, undefined, undefined)).toEqual([]);
  expect(toChanges(key, { ...key, tags: ["x"] }, { ...key, tags: [] })).toHaveLength(1);
});

test("an item is created on the condition that it does not exist", async () => {
  dynamodb.on(PutCommand).resolves({});
  await writeChanges(toChanges(key, undefined, { ...key, a: 1 }), [], pace());
  expect(dynamodb.commandCalls(PutCommand)[0]?.args[0].input).toMatchObject({
    Item: { ...key, a: 1 },
    ConditionExpression: "attribute_not_exists(pk)",
  });
});

test("an item is replaced or deleted on the condition that each attribute is as it was compared, also a missing one", async () => {
  dynamodb.on(PutCommand).resolves({}).on(DeleteCommand).resolves({});
  await writeChanges(toChanges(key, { ...key, a: 1 }, { ...key, b: 2 }), [], pace());
  await writeChanges(toChanges(key, { ...key, a: 1 }, undefined), [], pace());
  const condition = "#read0 = :read0 AND #read1 = :read1 AND #read2 = :read2";
  const names = { "#read0": "pk", "#read1": "sk", "#read2": "a" };
  expect(dynamodb.commandCalls(PutCommand)[0]?.args[0].input).toMatchObject({
    ConditionExpression: `${condition} AND attribute_not_exists(#read3)`,
    ExpressionAttributeNames: { ...names, "#read3": "b" },
    ExpressionAttributeValues: { ":read0": key.pk, ":read1": key.sk, ":read2": 1 },
  });
  expect(dynamodb.commandCalls(DeleteCommand)[0]?.args[0].input).toMatchObject({
    Key: key,
    ConditionExpression: condition,
    ExpressionAttributeNames: names,
  });
});

test("several changes, or one with a check, are a transaction", async () => {
  dynamodb.on(TransactWriteCommand).resolves({});
  const check = { ConditionCheck: { TableName: "t", Key: key, ConditionExpression: "attribute_exists(pk)" } };
  const change = toChanges(key, undefined, key);
  await writeChanges([...change, ...change], [], pace());
  await writeChanges(change, [check], pace());
  await writeChanges([], [check], pace());
  expect(dynamodb.calls()).toHaveLength(2);
  expect(dynamodb.commandCalls(TransactWriteCommand)[1]?.args[0].input.TransactItems?.[1]).toEqual(check);
});

test("writes are paced by the units of the table, and repeated while it throttles them", async () => {
  const wait = vi.fn(async () => {});
  dynamodb
    .on(PutCommand)
    .rejectsOnce(new ProvisionedThroughputExceededException({ message: "", $metadata: {} }))
    .resolves({ ConsumedCapacity: { CapacityUnits: 2500, Table: { CapacityUnits: 500 } } });
  await writeChanges(toChanges(key, undefined, key), [], pace(wait));
  expect(dynamodb.commandCalls(PutCommand)).toHaveLength(2);
  const [, [paid] = []] = wait.mock.calls as unknown as [number][];
  // 500 write units are worth a second of 1,500 read units; the throttle halved the rate.
  expect(paid).toBeGreaterThan(1500);
  expect(paid).toBeLessThan(2100);
});

test("what is new is told by a generated id", () => {
  const restoration = { keptFrom: 1_000_000 } as Restoration;
  expect(isNew(restoration, newId("lead", 1_000_000))).toBe(true);
  expect(isNew(restoration, newId("msg", 999_999))).toBe(false);
  expect(isNew(restoration, "lead_zzzz")).toBe(false);
});
