import { DeleteCommand, type GetCommand, QueryCommand } from "@aws-sdk/lib-dynamodb";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Item, table, tableName } from "../../shared/dynamodb/table-client.ts";
import { readingCommand } from "./memory-table/reading-commands.ts";
import { writingCommand } from "./memory-table/writing-commands.ts";
import { MemoryTable } from "./memory-table.ts";

const TableName = tableName;

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

test("the memory table answers like the embedded engine", async () => {
  const run = async (commands: readonly (() => object)[]) => {
    for (const { pk, sk } of await readAll(engine)) {
      await engine(new DeleteCommand({ TableName, Key: { pk, sk } }));
    }
    const memory = new MemoryTable();
    for (const create of commands) await compare(memory, create());
    expect(await readAll(memory.send)).toEqual(await readAll(engine));
  };
  await fc.assert(fc.asyncProperty(fc.array(command, { minLength: 20, maxLength: 60, size: "max" }), run), {
    numRuns: Number(process.env.CASES ?? 10),
    endOnFailure: true,
  });
});
