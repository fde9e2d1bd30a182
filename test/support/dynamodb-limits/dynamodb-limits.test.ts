import { expect, test } from "vitest";
import { admit } from "./admission.ts";
import { chargeConsumed } from "./consumed-capacity.ts";
import { awsRates, PartitionLimits, type Use } from "./partition-limits.ts";
import { findUses } from "./table-uses.ts";
import { throttlingReason } from "./throttling-reason.ts";

const read = (partition: string): Use => ({ kind: "read", partition });

test("a partition key serves its units a second, may overdraw them once, and waits until they are refilled", () => {
  let now = 0;
  const limits = new PartitionLimits(awsRates, () => now);
  limits.charge(read("a"), 2999);
  expect(limits.throttle([read("a")])).toBeUndefined();
  limits.charge(read("a"), 3001);
  expect(limits.throttle([read("b"), read("a")])).toEqual(read("a"));
  now = 1000;
  expect(limits.throttle([read("a")])).toEqual(read("a"));
  now = 1001;
  expect(limits.throttle([read("a")])).toBeUndefined();
});

test("unused capacity is kept for a burst, up to the setting", () => {
  let now = 0;
  const limits = new PartitionLimits({ ...awsRates, burstSeconds: 300 }, () => now);
  limits.charge(read("a"), 899_999);
  expect(limits.throttle([read("a")])).toBeUndefined();
  limits.charge(read("a"), 1);
  expect(limits.throttle([read("a")])).toEqual(read("a"));
  now = 1_000_000;
  limits.charge(read("a"), 900_000);
  expect(limits.throttle([read("a")])).toEqual(read("a"));
});

test("reads, writes and each index have limits of their own, and an index throttles a write", () => {
  const limits = new PartitionLimits(awsRates, () => 0);
  const uses = findUses("PutItem", {
    Item: { pk: { S: "LEAD#a" }, sk: { S: "1" }, byStatus: { S: "LEAD#a#new" } },
  });
  chargeConsumed(limits, uses, {
    Table: { CapacityUnits: 999 },
    GlobalSecondaryIndexes: { "by-status": { CapacityUnits: 1000 } },
  });
  expect(limits.throttle([read("LEAD#a")])).toBeUndefined();
  const throttled = limits.throttle(uses);
  expect(throttled && throttlingReason(throttled, "leads")).toEqual({
    reason: "IndexWriteKeyRangeThroughputExceeded",
    resource: "arn:aws:dynamodb:local:000000000000:table/leads/index/by-status",
  });
});

test("the partition keys of a call are found in its input, in both formats", () => {
  expect(
    findUses("Query", {
      IndexName: "by-origin",
      KeyConditionExpression: "#partition = :partition AND sk >= :sk",
      ExpressionAttributeValues: { ":partition": "LEAD#a#web", ":sk": "1" },
    }),
  ).toEqual([{ kind: "read", index: "by-origin", partition: "LEAD#a#web", item: 0 }]);
  expect(findUses("GetItem", { Key: { pk: { S: "COUNT#a" } } })).toEqual([{ ...read("COUNT#a"), item: 0 }]);
  expect(
    findUses("TransactWriteItems", {
      TransactItems: [
        { Put: { Item: { pk: "COUNT#a" } } },
        {
          Update: {
            Key: { pk: "LEAD#a" },
            UpdateExpression: "SET byStatus = :to, #status = :status",
            ExpressionAttributeValues: { ":to": "LEAD#a#won", ":status": "won" },
          },
        },
      ],
    }),
  ).toEqual([
    { kind: "write", partition: "COUNT#a", item: 0 },
    { kind: "write", partition: "LEAD#a", item: 1 },
    { kind: "write", index: "by-status", partition: "LEAD#a#won", item: 1 },
  ]);
  const keys = { RequestItems: { leads: { Keys: [{ pk: { S: "LEAD#a" } }, { pk: "LEAD#b" }] } } };
  expect(findUses("BatchGetItem", keys)).toEqual([
    { ...read("LEAD#a"), item: 0 },
    { ...read("LEAD#b"), item: 1 },
  ]);
  const requests = [
    { PutRequest: { Item: { pk: "LEAD#a" } } },
    { DeleteRequest: { Key: { pk: "COUNT#a" } } },
  ];
  expect(findUses("BatchWriteItem", { RequestItems: { leads: requests } })).toEqual([
    { kind: "write", partition: "LEAD#a", item: 0 },
    { kind: "write", partition: "COUNT#a", item: 1 },
  ]);
});

test("the units of a transaction are divided by the sizes of its items", () => {
  const limits = new PartitionLimits(awsRates, () => 0);
  const uses = findUses("TransactWriteItems", {
    TransactItems: [{ Put: { Item: { pk: "a" } } }, { Put: { Item: { pk: "b" } } }],
  });
  chargeConsumed(limits, uses, [{ Table: { CapacityUnits: 1250 } }], [4, 1]);
  expect(limits.throttle(uses)?.partition).toBe("a");
  expect(limits.throttle(uses.slice(1))).toBeUndefined();
});

const key = (pk: string, n = 0) => ({ pk, sk: String(n) });
const batchOf = (...Keys: ReturnType<typeof key>[]) => ({
  RequestItems: { leads: { ConsistentRead: true, Keys } },
});

test("a batch is read without the keys that are throttled, unless all are", () => {
  const limits = new PartitionLimits(awsRates, () => 0);
  limits.charge(read("a"), 3000);
  const input = batchOf(key("a"), key("b"));
  const { over, uses, complete, ...admission } = admit(limits, "BatchGetItem", input);
  expect(over).toBeUndefined();
  expect(admission).toEqual({ partial: true, input: batchOf(key("b")) });
  expect(uses).toEqual([{ ...read("b"), item: 1 }]);
  const Responses = { leads: [key("b")] };
  expect(complete({ Responses, UnprocessedKeys: batchOf(key("b", 1)).RequestItems })).toEqual({
    Responses,
    UnprocessedKeys: batchOf(key("b", 1), key("a")).RequestItems,
  });
  const refused = admit(limits, "BatchGetItem", batchOf(key("a"), key("a", 1)));
  expect([refused.over, refused.partial]).toEqual([{ ...read("a"), item: 0 }, false]);
});

test("the keys of a batch throttle those after them in the same partition", () => {
  const limits = new PartitionLimits(awsRates, () => 0);
  limits.charge(read("a"), 2999);
  const keys = [0, 1, 2, 3].map((n) => key("a", n));
  const { partial, input, uses } = admit(limits, "BatchGetItem", batchOf(...keys));
  expect([partial, input]).toEqual([true, batchOf(...keys.slice(0, 2))]);
  // Nothing is charged until the units are known.
  expect(limits.throttle(uses)).toBeUndefined();
  chargeConsumed(limits, uses, [{ Table: { CapacityUnits: 1 } }]);
  expect(limits.throttle(uses)).toBeDefined();
});
