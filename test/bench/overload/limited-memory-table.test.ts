import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { expect, test } from "vitest";
import { awsRates, PartitionLimits } from "../../support/dynamodb-limits/partition-limits.ts";
import { MemoryTable } from "../../support/memory-table.ts";
import { seeded } from "../../support/random.ts";
import { bundle } from "./bundle.ts";
import { type Attempt, LimitedMemoryTable } from "./limited-memory-table.ts";
import { runToEnd } from "./outcome.ts";
import { VirtualClock } from "./virtual-clock.ts";
import { virtualGlobals } from "./virtual-globals.ts";

const root = `${import.meta.dirname}/../../..`;

/** A handler of an event with keys. */
const handler = `
  import { BatchGetCommand } from "@aws-sdk/lib-dynamodb";
  import { table, tableName } from "./shared/dynamodb/table-client.ts";
  export const handler = (Keys) =>
    table.send(new BatchGetCommand({ RequestItems: { [tableName]: { Keys, ConsistentRead: true } } }));
`;
type Handler = (keys: readonly object[]) => Promise<{ Responses: object; UnprocessedKeys: object }>;
const load = await bundle<{ handler: Handler }>(root, { stdin: { contents: handler, resolveDir: root } });

const keys = [
  { pk: "a", sk: "1" },
  { pk: "b", sk: "1" },
];

test("a simulated function reads batches, in part while a partition key is over its limit", async () => {
  const clock = new VirtualClock(0);
  const memory = new MemoryTable();
  for (const Item of keys) memory.execute(new PutCommand({ TableName: "overload", Item }));
  const limits = new PartitionLimits(awsRates, () => clock.now);
  const table = new LimitedMemoryTable(memory, limits, clock);
  const attempts: Attempt[] = [];
  const host = {
    attempt: (command: object, abortSignal: AbortSignal | undefined) =>
      table.attempt(command, (attempt) => attempts.push(attempt), abortSignal),
  };
  const { handler } = load(host, virtualGlobals(clock, seeded(1)));
  const read = () => {
    attempts.length = 0;
    return runToEnd(clock, handler(keys), 1);
  };
  expect(await read()).toMatchObject({ value: { UnprocessedKeys: {} } });
  expect(attempts).toEqual([{ partition: "a", readUnits: 2 }]);
  limits.charge({ kind: "read", partition: "a" }, 9000);
  const [a, b] = keys;
  expect(await read()).toMatchObject({
    value: {
      Responses: { overload: [b] },
      UnprocessedKeys: { overload: { ConsistentRead: true, Keys: [a] } },
    },
  });
  expect([attempts, table.throttled]).toEqual([[{ partition: "b", readUnits: 1 }], 1]);
  limits.charge({ kind: "read", partition: "b" }, 9000);
  expect(await read()).toMatchObject({ error: { name: "ThrottlingException" } });
  expect(attempts.length).toBeGreaterThan(1);
});
