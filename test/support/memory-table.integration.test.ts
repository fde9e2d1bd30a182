import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  GetCommand,
  NumberValue,
  PutCommand,
  QueryCommand,
  ScanCommand,
  TransactGetCommand,
  TransactWriteCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import { expect, test } from "vitest";
import { connect, type Item, tableName as TableName } from "../../shared/dynamodb/table-client.ts";
import { MemoryTable } from "./memory-table.ts";

const memory = new MemoryTable();

type Send = (command: object) => Promise<unknown>;
// Not the client of the functions, which on a busy machine makes no attempt that is late.
const table = connect({});
const engine: Send = (sent) => table.send(sent as GetCommand);

/** The response or the error of a command, in a form that can be compared. */
async function outcome(send: Send, sent: object) {
  try {
    const answer = (await send(sent)) as Record<string, unknown>;
    const { $metadata, ItemCollectionMetrics, ConsumedCapacity, Responses, ...output } = answer;
    const consumed = [ConsumedCapacity ?? []].flat() as { CapacityUnits: number }[];
    // The items of a batch are in no particular order, those of a transaction in that of its keys.
    const batches = Array.isArray(Responses)
      ? Responses
      : Object.values((Responses ?? {}) as Record<string, Item[]>).map((it) => new Set(it));
    return { output, batches, units: consumed.map(({ CapacityUnits }) => CapacityUnits) };
  } catch (error) {
    const { name, Item, CancellationReasons = [] } = error as { CancellationReasons?: Item[] } & Item;
    return { name, Item, reasons: CancellationReasons.map(({ Code, Item }) => ({ Code, Item })) };
  }
}

/** Sends a command to both, and all further pages of a query. */
async function compare(sent: object): Promise<void> {
  for (let next: object | undefined = sent; next; ) {
    // The client of the engine asks for it with every call.
    Object.assign(Reflect.get(next, "input"), { ReturnConsumedCapacity: "TOTAL" });
    const answer: Awaited<ReturnType<typeof outcome>> = await outcome(memory.send, next);
    expect(answer, JSON.stringify(Reflect.get(next, "input"))).toEqual(await outcome(engine, next));
    const ExclusiveStartKey = answer.output?.LastEvaluatedKey as Item | undefined;
    next =
      sent instanceof QueryCommand && ExclusiveStartKey
        ? new QueryCommand({ ...sent.input, ExclusiveStartKey })
        : undefined;
  }
}

const sks = ["01", "02", "020", "03", "1"];
const keys = ["LEAD#a", "LEAD#b"].flatMap((pk) => sks.map((sk) => ({ pk, sk })));

/** Items of several sizes, of which some are in indexes. */
const items = keys.map((key, n) => ({
  ...key,
  ...(n % 3 > 0 && { version: n % 4, byStatus: `S#${n % 2}` }),
  ...(n % 2 > 0 && { status: "new", byParent: "P#1" }),
  ...(n % 4 > 0 && { lastMessageAt: `0${(n * 7) % 5}` }),
  filler: "x".repeat([0, 900, 5000][n % 3] ?? 0),
  bytes: new Uint8Array(100 * n),
  list: ["one", { id: "two" }],
  large: NumberValue.from("9".repeat(29 + n)),
  names: new Set(["one", "two"].slice(n % 2)),
}));

const newVersion = { ":version": 2 };
const conditions = [
  {},
  { ConditionExpression: "attribute_not_exists(pk)" },
  { ConditionExpression: "attribute_exists(pk)" },
  { ConditionExpression: "version = :version", ExpressionAttributeValues: newVersion },
  {
    ConditionExpression: "attribute_not_exists(version) OR version <= :version",
    ExpressionAttributeValues: newVersion,
    ReturnValuesOnConditionCheckFailure: "ALL_OLD" as const,
  },
  {
    ConditionExpression: "#status = :status AND (version < :version OR version <= :version)",
    ExpressionAttributeNames: { "#status": "status" },
    ExpressionAttributeValues: { ...newVersion, ":status": "new" },
  },
];
const updates = [
  "ADD used :number SET version = :number",
  "SET version = if_not_exists(version, :number), used = :number",
  "SET used = :number ADD version :number",
  "SET version = :number REMOVE used",
];
const ranges = [
  ["", {}],
  ...["<", "<=", ">", ">=", "="].map((operator) => [` AND sk ${operator} :low`, { ":low": "02" }] as const),
  [" AND sk BETWEEN :low AND :high", { ":low": "02", ":high": "03" }],
  [" AND begins_with(sk, :low)", { ":low": "02" }],
] as const;
const sources = [
  { attribute: "pk", of: "LEAD#a" },
  { attribute: "byStatus", of: "S#1", IndexName: "by-status" },
  { attribute: "byParent", of: "P#1", IndexName: "by-parent" },
];

/** Reads of every kind. */
function* reads() {
  for (const Key of keys) yield new GetCommand({ TableName, Key, ConsistentRead: Key.sk > "02" });
  for (const sk of [5, "x".repeat(1025)]) yield new GetCommand({ TableName, Key: { pk: "LEAD#a", sk } });
  const part = { ProjectionExpression: "pk, sk, #status", ExpressionAttributeNames: { "#status": "status" } };
  for (const request of [
    { Keys: keys, ConsistentRead: true },
    { Keys: keys, ...part },
    { Keys: [keys[0], keys[0]] },
  ])
    yield new BatchGetCommand({
      RequestItems: { [TableName]: request as { Keys: Item[] } },
    });
  for (const Keys of [keys, [...keys, { pk: "LEAD#a", sk: "none" }], [keys[0], keys[0]]])
    yield new TransactGetCommand({
      TransactItems: Keys.map((Key, n) => ({ Get: { TableName, Key, ...(n % 2 > 0 && part) } })),
    });
  for (const { attribute, of, IndexName } of sources)
    for (const [range, values] of ranges)
      for (const Limit of [undefined, 2])
        for (const filter of [false, true])
          yield new QueryCommand({
            ...{ TableName, IndexName, Limit, ScanIndexForward: filter },
            ...(filter && { FilterExpression: "#status = :new", Select: "COUNT" }),
            ConsistentRead: IndexName === undefined && Limit === undefined,
            KeyConditionExpression: `#partition = :of${range}`,
            ExpressionAttributeNames: { "#partition": attribute, ...(filter && { "#status": "status" }) },
            ExpressionAttributeValues: { ":of": of, ...values, ...(filter && { ":new": "new" }) },
          });
}

/** What a scan finds of each segment, in any order. */
async function scanned(send: Send, segments: number) {
  const found: Item[] = [];
  for (let Segment = 0; Segment < segments; Segment++)
    for (let start: Item | undefined, more = true; more; more = start !== undefined) {
      const answer = await send(
        new ScanCommand({
          ...{ TableName, Segment, TotalSegments: segments, Limit: 3, ConsistentRead: true },
          FilterExpression: "begins_with(sk, :sk) OR byStatus = :status",
          ExpressionAttributeValues: { ":sk": "02", ":status": "S#1" },
          ...(start && { ExclusiveStartKey: start }),
        }),
      );
      const { Items, LastEvaluatedKey } = answer as { Items: Item[]; LastEvaluatedKey?: Item };
      found.push(...Items);
      start = LastEvaluatedKey;
    }
  return new Map(found.map((item) => [`${item.pk} ${item.sk}`, item]));
}

/** Reads of the index by activity, and one that asks an index for all attributes. */
function* readsByActivity() {
  const index = { TableName, IndexName: "by-activity", ExpressionAttributeValues: { ":pk": "LEAD#a" } };
  const inTime = { ":low": "01", ":high": "03" };
  for (const Limit of [undefined, 1, 2])
    for (const ScanIndexForward of [true, false])
      yield new QueryCommand({
        ...{ ...index, Limit, ScanIndexForward },
        KeyConditionExpression: "pk = :pk AND lastMessageAt BETWEEN :low AND :high",
        ExpressionAttributeValues: { ...index.ExpressionAttributeValues, ...inTime },
      });
  yield new QueryCommand({ ...index, KeyConditionExpression: "pk = :pk", Select: "ALL_ATTRIBUTES" });
}

/** Writes of every kind, with every condition on an item that there is and on one that there is not. */
function* writes() {
  for (const Item of items.slice(1)) yield new PutCommand({ TableName, Item });
  for (const [n, condition] of conditions.entries())
    for (const Item of items.slice(n, n + 3)) {
      const { pk, sk } = Item;
      const [Put, Delete] = [
        { TableName, Item, ...condition },
        { TableName, Key: { pk, sk }, ...condition },
      ];
      yield new PutCommand({ ...Put });
      yield new DeleteCommand({ ...Delete });
      yield new TransactWriteCommand({ TransactItems: [{ Put }] });
      const other = { TableName, Item: { ...Item, sk: `${sk}x` } };
      yield new TransactWriteCommand({ TransactItems: [{ Put: other }, { Delete }] });
    }
  for (const [n, UpdateExpression] of updates.entries())
    for (const ReturnValues of ["ALL_NEW", "UPDATED_NEW", undefined] as const) {
      const ExpressionAttributeValues = { ":number": n };
      for (const Key of [keys[n], keys[n + 5], { pk: "LEAD#a", sk: `${n}` }])
        yield new UpdateCommand({
          TableName,
          Key,
          UpdateExpression,
          ReturnValues,
          ExpressionAttributeValues,
        });
    }
  const requests = items.slice(0, 4).map((Item) => ({ PutRequest: { Item } }));
  yield new BatchWriteCommand({ RequestItems: { [TableName]: requests } });
  yield new BatchWriteCommand({ RequestItems: { [TableName]: [{ DeleteRequest: { Key: keys[0] } }] } });
}

test("the memory table answers like the embedded engine", async () => {
  for (const read of reads()) await compare(read);
  for (const write of writes()) await compare(write);
  for (const read of [...reads(), ...readsByActivity()]) await compare(read);
  for (const segments of [1, 4])
    expect(await scanned(memory.send, segments)).toEqual(await scanned(engine, segments));
});
