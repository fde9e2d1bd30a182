import {
  BatchWriteCommand,
  DeleteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  type QueryCommandInput,
  TransactWriteCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Item, table, tableName } from "../../shared/dynamodb/table-client.ts";
import { MemoryTable } from "./memory-table.ts";

const TableName = tableName;
const ReturnConsumedCapacity = "TOTAL" as const;

const partition = fc.constantFrom("LEAD#a", "LEAD#b");
const sk = fc.constantFrom("01", "02", "020", "03", "05", "07", "1", "2");
const number = fc.nat(4);
const item = fc.record(
  {
    pk: partition,
    sk,
    version: number,
    status: fc.constantFrom("new", "booked"),
    filler: fc.constantFrom("", "x".repeat(900), "x".repeat(5000)),
    bytes: fc.constantFrom(Uint8Array.from([1, 2]), new Uint8Array(300)),
    list: fc.array(fc.constantFrom("one", "two")),
    ids: fc.record({ id: fc.constantFrom("lead_1", "lead_2") }),
    byStatus: fc.constantFrom("S#1", "S#2"),
    byParent: fc.constantFrom("P#1", "P#2"),
  },
  { requiredKeys: ["pk", "sk"] },
);

const condition = fc.oneof(
  fc.constant({}),
  fc.constant({ ConditionExpression: "attribute_not_exists(pk)" }),
  fc.constant({ ConditionExpression: "attribute_exists(pk)" }),
  number.map((version) => ({
    ConditionExpression: "version = :version",
    ExpressionAttributeValues: { ":version": version },
  })),
  number.map((version) => ({
    ConditionExpression: "attribute_not_exists(version) OR version <= :version",
    ExpressionAttributeValues: { ":version": version },
    ReturnValuesOnConditionCheckFailure: "ALL_OLD" as const,
  })),
  number.map((version) => ({
    ConditionExpression: "#status = :status AND (version < :version OR version >= :version)",
    ExpressionAttributeNames: { "#status": "status" },
    ExpressionAttributeValues: { ":version": version, ":status": "new" },
  })),
);
const key = fc.record({ pk: partition, sk });

const put = fc.tuple(item, condition).map(([Item, rest]) => ({ TableName, Item, ...rest }));
const remove = fc.tuple(key, condition).map(([Key, rest]) => ({ TableName, Key, ...rest }));
const update = fc
  .tuple(
    key,
    number,
    fc.constantFrom(
      { UpdateExpression: "ADD used :number SET version = :number" },
      { UpdateExpression: "SET version = if_not_exists(version, :number), used = :number" },
      { UpdateExpression: "SET used = :number ADD version :number" },
    ),
    fc.constantFrom("ALL_NEW", "UPDATED_NEW", undefined),
  )
  .map(([Key, value, expression, ReturnValues]) => ({
    ...{ TableName, Key, ...expression, ReturnValues, ExpressionAttributeValues: { ":number": value } },
  }));

const range = fc.oneof(
  fc.constant({ text: "", values: {} }),
  fc
    .tuple(fc.constantFrom("<", "<=", ">", ">=", "="), sk)
    .map(([operator, low]) => ({ text: ` AND sk ${operator} :low`, values: { ":low": low } })),
  fc.tuple(sk, sk).map(([a, b]) => ({
    text: " AND sk BETWEEN :low AND :high",
    values: { ":low": a < b ? a : b, ":high": a < b ? b : a },
  })),
  fc.constant({ text: " AND begins_with(sk, :low)", values: { ":low": "02" } }),
);
const query = fc
  .record({
    from: fc.constantFrom(
      { attribute: "pk", of: "LEAD#a" },
      { attribute: "pk", of: "LEAD#b" },
      { attribute: "byStatus", of: "S#1", IndexName: "by-status" },
      { attribute: "byParent", of: "P#2", IndexName: "by-parent" },
    ),
    range,
    Limit: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
    ScanIndexForward: fc.boolean(),
    consistent: fc.boolean(),
    what: fc.constantFrom(
      { Select: "COUNT" as const },
      { ProjectionExpression: "sk, #status" },
      { Select: "ALL_ATTRIBUTES" as const },
    ),
    filter: fc.boolean(),
  })
  .map(
    ({ from, range: { text, values }, what, filter, consistent, ...rest }): QueryCommandInput => ({
      ...{ TableName, ReturnConsumedCapacity, ...rest, ...what },
      IndexName: from.IndexName,
      ConsistentRead: from.IndexName === undefined && consistent,
      KeyConditionExpression: `#partition = :of${text}`,
      ...(filter && { FilterExpression: "#status = :new" }),
      ExpressionAttributeNames: {
        "#partition": from.attribute,
        ...((filter || what.ProjectionExpression) && { "#status": "status" }),
      },
      ExpressionAttributeValues: { ":of": from.of, ...values, ...(filter && { ":new": "new" }) },
    }),
  );

const plain = { ReturnConsumedCapacity };
const command = fc.oneof(
  { weight: 4, arbitrary: put.map((input) => () => [new PutCommand({ ...input, ...plain })]) },
  { weight: 1, arbitrary: remove.map((input) => () => [new DeleteCommand({ ...input, ...plain })]) },
  { weight: 2, arbitrary: update.map((input) => () => [new UpdateCommand(input)]) },
  {
    weight: 1,
    arbitrary: fc.tuple(key, fc.boolean()).map(([Key, ConsistentRead]) => () => [
      new GetCommand({ TableName, Key, ConsistentRead, ReturnConsumedCapacity }),
    ]),
  },
  { weight: 4, arbitrary: query.map((input) => () => [new QueryCommand(input)]) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        fc.array(put, { maxLength: 3 }),
        fc.array(remove, { maxLength: 2 }),
        fc.array(update, { maxLength: 2 }),
      )
      .map(
        ([puts, removes, updates]) =>
          () =>
            [transaction(puts, removes, updates)].flat(),
      ),
  },
  {
    weight: 1,
    arbitrary: fc
      .uniqueArray(item, { selector: ({ pk, sk }) => pk + sk, minLength: 1, maxLength: 3 })
      .map((items) => () => [
        new BatchWriteCommand({
          RequestItems: {
            [TableName]: items.map((Item, i) =>
              i % 2 ? { PutRequest: { Item } } : { DeleteRequest: { Key: { pk: Item.pk, sk: Item.sk } } },
            ),
          },
        }),
      ]),
  },
);

function transaction(
  puts: readonly { TableName: string; Item: { pk: string; sk: string } }[],
  removes: readonly { TableName: string; Key: { pk: string; sk: string } }[],
  updates: readonly { TableName: string; Key: { pk: string; sk: string }; UpdateExpression: string }[],
): TransactWriteCommand[] {
  const all = [
    ...puts.map((Put) => ({ key: Put.Item, item: { Put } })),
    ...removes.map((Delete) => ({ key: Delete.Key, item: { Delete } })),
    ...updates.map(({ TableName, Key, ...rest }) => {
      const { UpdateExpression, ...others } = { ...rest, ReturnValues: undefined };
      return { key: Key, item: { Update: { TableName, Key, UpdateExpression, ...others } } };
    }),
  ];
  const unique = new Map(all.map(({ key: { pk, sk }, item }) => [pk + sk, item]));
  return unique.size === 0
    ? []
    : [new TransactWriteCommand({ TransactItems: [...unique.values()], ReturnConsumedCapacity })];
}

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
  const run = async (commands: readonly (() => object[])[]) => {
    for (const { pk, sk } of await readAll(engine)) {
      await engine(new DeleteCommand({ TableName, Key: { pk, sk } }));
    }
    const memory = new MemoryTable();
    for (const create of commands) {
      for (const sent of create()) {
        expect(await outcome(memory.send, sent)).toEqual(await outcome(engine, sent));
      }
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
