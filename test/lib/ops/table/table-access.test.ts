import { BatchWriteCommand, DynamoDBDocumentClient, QueryCommand, ScanCommand } from "@aws-sdk/lib-dynamodb";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { scanTable } from "../../../../lib/ops/table/read-items.ts";
import { deleteItems } from "../../../../lib/ops/table/write-items.ts";
import { Pace } from "../../../../shared/dynamodb/pace.ts";
import { inPartition, queryAll } from "../../../../shared/dynamodb/read-pages.ts";
import { mockClient } from "../../../support/mocked-client.ts";
import { skipWaits } from "../../../support/skipped-waits.ts";

const table = mockClient(DynamoDBDocumentClient);
beforeEach(() => {
  table.reset();
  vi.useFakeTimers({ toFake: ["Date"], now: 0 });
  skipWaits((milliseconds) => vi.setSystemTime(Date.now() + milliseconds));
});
afterEach(() => void vi.useRealTimers());

/** A pace of 100 units per second whose waits move the clock. */
const createPace = () => new Pace(100);

const throttled = Object.assign(new Error("Not now."), { name: "ThrottlingException" });
const key = (n: number) => ({ pk: "LEAD#acme", sk: `lead_${n}` });

test("a partition is read consistently, page by page, at the pace, and again when a page is throttled", async () => {
  const [first, second] = [key(1), key(2)];
  const ConsumedCapacity = { CapacityUnits: 100 };
  table
    .on(QueryCommand)
    .resolvesOnce({ Items: [first], LastEvaluatedKey: first, ConsumedCapacity })
    .rejectsOnce(throttled)
    .resolves({ Items: [second], ConsumedCapacity });
  expect(await queryAll(inPartition("LEAD#acme"), createPace())).toEqual([first, second]);
  const inputs = table.commandCalls(QueryCommand).map(({ args }) => args[0].input);
  expect(inputs.map(({ ExclusiveStartKey }) => ExclusiveStartKey)).toEqual([undefined, first, first]);
  for (const input of inputs)
    expect(input).toMatchObject({ ConsistentRead: true, ReturnConsumedCapacity: "TOTAL" });
  expect(Date.now()).toBeGreaterThanOrEqual(1800);
});

test("the whole table is read consistently, in eight parts", async () => {
  table.on(ScanCommand).resolves({ Items: [] });
  await scanTable({}, createPace(), () => {});
  const inputs = table.commandCalls(ScanCommand).map(({ args }) => args[0].input);
  expect(inputs.map(({ Segment }) => Segment).sort()).toEqual([...Array(8).keys()]);
  for (const input of inputs) expect(input).toMatchObject({ ConsistentRead: true, TotalSegments: 8 });
});

test("items are deleted in batches of 25, what a batch leaves over again, and a write is worth three reads", async () => {
  const deleted: unknown[] = [];
  let calls = 0;
  table.on(BatchWriteCommand).callsFake(({ RequestItems }) => {
    const [[name = "", requests = []] = []] =
      Object.entries<{ DeleteRequest: { Key: object } }[]>(RequestItems);
    expect(requests.length).toBeLessThanOrEqual(25);
    const done = ++calls === 1 ? requests.slice(0, 10) : requests;
    deleted.push(...done.map(({ DeleteRequest }) => DeleteRequest.Key));
    const left = requests.slice(done.length);
    return {
      ConsumedCapacity: [{ CapacityUnits: done.length }],
      ...(left.length > 0 && { UnprocessedItems: { [name]: left } }),
    };
  });
  const keys = Array.from({ length: 60 }, (_, n) => ({ ...key(n), name: "not a part of the key" }));
  await deleteItems(keys, createPace());
  expect(deleted).toEqual(Array.from({ length: 60 }, (_, n) => key(n)));
  expect(calls).toBe(4);
  // 60 write units are 180 read units, and the throttle halves the pace.
  expect(Date.now()).toBeGreaterThan(1500);
});
