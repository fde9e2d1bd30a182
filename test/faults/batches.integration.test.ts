import { BatchGetCommand, type BatchGetCommandOutput } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PartitionLimits } from "../support/dynamodb-limits/partition-limits.ts";
import { pass } from "./exchange.ts";
import { faultKinds } from "./fault-kinds.ts";
import { startFaultyApi } from "./faulty-api.ts";
import { LimitedTable } from "./limited-table.ts";

const { table: faulty, tableName } = await startFaultyApi();
// Imported here because the client reads its endpoint from the environment.
const { PutCommand } = await import("@aws-sdk/lib-dynamodb");
const { table } = await import("../../shared/dynamodb/table-client.ts");

const keys = ["a", "a", "b", "b"].map((pk, n) => ({ pk, sk: String(n) }));
const RequestItems = { [tableName]: { Keys: keys, ConsistentRead: true } };
const readBatch = () => table.send(new BatchGetCommand({ RequestItems }));

beforeAll(async () => {
  for (const Item of keys) await table.send(new PutCommand({ TableName: tableName, Item }));
});
afterAll(() => faulty.close());

/** The sort keys of the items that a batch returned, and of the keys that it did not read. */
const parts = ({ Responses, UnprocessedKeys }: BatchGetCommandOutput) =>
  [Responses?.[tableName], UnprocessedKeys?.[tableName]?.Keys].map((rows = []) =>
    rows.map(({ sk }) => String(sk)).sort(),
  );

test("above the limit of one partition key, a batch returns the items of others", async () => {
  const limits = new PartitionLimits({ read: 10, write: 10, burstSeconds: 0 }, () => 0);
  const limited = new LimitedTable(limits, tableName);
  faulty.handle = limited.handle;
  limits.charge({ kind: "read", partition: "a" }, 6);
  expect(parts(await readBatch())).toEqual([["0", "1", "2", "3"], []]);
  limits.charge({ kind: "read", partition: "a" }, 2);
  const output = await readBatch();
  expect(parts(output)).toEqual([
    ["2", "3"],
    ["0", "1"],
  ]);
  expect(output.UnprocessedKeys).toEqual({ [tableName]: { Keys: keys.slice(0, 2), ConsistentRead: true } });
  expect([output.ConsumedCapacity, limited.throttled]).toEqual([undefined, 1]);
  limits.charge({ kind: "read", partition: "b" }, 6);
  await expect(readBatch()).rejects.toThrow(
    expect.objectContaining({ name: expect.stringMatching(/^(Throttling|ProvisionedThroughputExceeded)/) }),
  );
  faulty.handle = pass;
});

test("a batch that a fault throttles is read in part or rejected", async () => {
  faulty.handle = (exchange) => faultKinds.throttle.inject(exchange, () => 0.6);
  expect(parts(await readBatch())).toEqual([["0"], ["1", "2", "3"]]);
  faulty.handle = (exchange) => faultKinds.throttle.inject(exchange, () => 0.8);
  await expect(readBatch()).rejects.toThrow();
  faulty.handle = pass;
});
