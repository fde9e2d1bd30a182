import { DeleteCommand, type GetCommand, PutCommand, QueryCommand } from "@aws-sdk/lib-dynamodb";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Item, table, tableName } from "../../shared/dynamodb/table-client.ts";
import { readingCommand } from "./memory-table/reading-commands.ts";
import { writingCommand } from "./memory-table/writing-commands.ts";
import { MemoryTable } from "./memory-table.ts";

const TableName = tableName;
const ReturnConsumedCapacity = "TOTAL" as const;

const command = fc.oneof({ weight: 2, arbitrary: writingCommand }, { weight: 1, arbitrary: readingCommand });

type Send = (command: object) => Promise<unknown>;

/** The response or the error of a command, in a form that can be compared. */
async function outcome(send: Send, sent: object) {
  try {
    const { $metadata, ItemCollectionMetrics, ConsumedCapacity, ...output } = (await send(sent)) as Record<
      string,
      unknown
    >;
    const consumed = [ConsumedCapacity ?? []].flat() as { CapacityUnits: number }[];
    return { output, units: consumed.map(({ CapacityUnits }) => CapacityUnits) };
  } catch (error) {
    const { name, Item, CancellationReasons } = error as Record<string, unknown>;
    const reasons = (CancellationReasons as { Code: string; Item?: unknown }[] | undefined)?.map(
      ({ Code, Item }) => ({ Code, Item }),
    );
    return { name, Item, reasons };
  }
}

const engine: Send = (sent) => table.send(sent as GetCommand);

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
    for (const create of commands) {
      const sent = create();
      expect(await outcome(memory.send, sent)).toEqual(await outcome(engine, sent));
    }
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
