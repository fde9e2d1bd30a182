import {
  BatchGetCommand,
  DeleteCommand,
  type GetCommand,
  PutCommand,
  QueryCommand,
} from "@aws-sdk/lib-dynamodb";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Item, table, tableName } from "../../shared/dynamodb/table-client.ts";
import { readingCommand } from "./memory-table/reading-commands.ts";
import { writingCommand } from "./memory-table/writing-commands.ts";
import { MemoryTable } from "./memory-table.ts";

const TableName = tableName;
const ReturnConsumedCapacity = "TOTAL" as const;

const command = fc.oneof({ weight: 3, arbitrary: writingCommand }, { weight: 2, arbitrary: readingCommand });

type Send = (command: object) => Promise<unknown>;

/** The response or the error of a command, in a form that can be compared. */
async function outcome(send: Send, sent: object) {
  try {
    const { $metadata, ItemCollectionMetrics, ConsumedCapacity, Responses, ...output } = (await send(
      sent,
    )) as Record<string, unknown>;
    const consumed = [ConsumedCapacity ?? []].flat() as { CapacityUnits: number }[];
    // The items of a batch are in no particular order.
    const batches = Object.entries((Responses ?? {}) as Record<string, Item[]>).map(([name, items]) => [
      name,
      new Set(items),
    ]);
    return { output, batches, units: consumed.map(({ CapacityUnits }) => CapacityUnits) };
  } catch (error) {
    const { name, Item, CancellationReasons } = error as Record<string, unknown>;
    const reasons = (CancellationReasons as { Code: string; Item?: unknown }[] | undefined)?.map(
      ({ Code, Item }) => ({ Code, Item }),
    );
    return { name, Item, reasons };
  }
}

const engine: Send = (sent) => table.send(sent as GetCommand);

/** Compares a command, and all further pages of a query. */
async function compare(memory: MemoryTable, sent: object): Promise<void> {
  for (let next: object | undefined = sent; next; ) {
    const answer: Awaited<ReturnType<typeof outcome>> = await outcome(memory.send, next);
    expect(answer).toEqual(await outcome(engine, next));
    const ExclusiveStartKey = answer.output?.LastEvaluatedKey as Item | undefined;
    next =
      sent instanceof QueryCommand && ExclusiveStartKey
        ? new QueryCommand({ ...sent.input, ExclusiveStartKey })
        : undefined;
  }
}

/** All items, of the engine's table too. */
async function readAll(send: Send): Promise<Item[]> {
  const found: Item[] = [];
  for (const pk of ["LEAD#a", "LEAD#b"]) {
    const sent = new QueryCommand({
      TableName,
      KeyConditionExpression: "pk = :pk",
      ExpressionAttributeValues: { ":pk": pk },
    });
    found.push(...(((await send(sent)) as { Items?: Item[] }).Items ?? []));
  }
  return found;
}

test("the memory table answers like the embedded engine", { timeout: 120_000 }, async () => {
  const run = async (commands: readonly (() => object)[]) => {
    for (const { pk, sk } of await readAll(engine)) {
      await engine(new DeleteCommand({ TableName, Key: { pk, sk } }));
    }
    const memory = new MemoryTable();
    for (const create of commands) await compare(memory, create());
    expect(await readAll(memory.send)).toEqual(await readAll(engine));
  };
  await fc.assert(fc.asyncProperty(fc.array(command, { minLength: 20, maxLength: 60, size: "max" }), run), {
    numRuns: Number(process.env.CASES ?? 30),
    endOnFailure: true,
  });
});

test("a page ends with the row that makes it a megabyte", async () => {
  const memory = new MemoryTable();
  for (let i = 0; i < 20; i++) {
    const Item = { pk: "LARGE", sk: String(i).padStart(2, "0"), filler: "x".repeat(100_000) };
    await memory.send(new PutCommand({ TableName, Item }));
  }
  const pages = [];
  let ExclusiveStartKey: Item | undefined;
  do {
    const sent = new QueryCommand({
      ...{ TableName, ReturnConsumedCapacity, Select: "COUNT", ExclusiveStartKey },
      KeyConditionExpression: "pk = :pk",
      ExpressionAttributeValues: { ":pk": "LARGE" },
    });
    const { output, units } = await outcome(memory.send, sent);
    pages.push([output?.Count, units?.[0]]);
    ExclusiveStartKey = output?.LastEvaluatedKey as Item | undefined;
  } while (ExclusiveStartKey);
  // The embedded engine ends a page one row earlier.
  expect(pages).toEqual([
    [11, 134.5],
    [9, 110],
  ]);
});

const batch = (keys: number, pk: (n: number) => string) => {
  const Keys = Array.from({ length: keys }, (_, n) => ({ pk: pk(n), sk: String(n).padStart(3, "0") }));
  return new BatchGetCommand({ RequestItems: { [TableName]: { Keys } }, ReturnConsumedCapacity });
};

test("a batch has from 1 to 100 keys", async () => {
  const memory = new MemoryTable();
  for (const keys of [0, 1, 100, 101])
    await compare(
      memory,
      batch(keys, () => "NONE"),
    );
  expect(
    await outcome(
      memory.send,
      batch(101, () => "NONE"),
    ),
  ).toMatchObject({ name: "ValidationException" });
});

test("a batch reads a megabyte of each partition", async () => {
  const memory = new MemoryTable();
  const sent = batch(24, (n) => `LARGE#${n % 2}`);
  const keys = sent.input.RequestItems?.[TableName]?.Keys ?? [];
  for (const key of keys) {
    const put = new PutCommand({ TableName, Item: { ...key, filler: "x".repeat(100_000) } });
    await Promise.all([memory.send(put), engine(put)]);
  }
  const { output, units } = await outcome(memory.send, sent);
  expect([output, units]).toEqual([
    { UnprocessedKeys: { [TableName]: { Keys: keys.slice(22) } } },
    [22 * 12.5],
  ]);
  // The embedded engine reads up to 16 MB, of however many partitions.
  expect((await outcome(engine, sent)).output).toEqual({ UnprocessedKeys: {} });
});
