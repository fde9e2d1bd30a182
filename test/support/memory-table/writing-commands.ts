import {
  BatchWriteCommand,
  DeleteCommand,
  PutCommand,
  TransactWriteCommand,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import fc from "fast-check";
import { tableName } from "../../../shared/dynamodb/table-client.ts";

const TableName = tableName;
const ReturnConsumedCapacity = "TOTAL" as const;

const partition = fc.constantFrom("LEAD#a", "LEAD#b");

/** The sort keys of random items. */
export const sk = fc.constantFrom("01", "02", "020", "03", "05", "07", "1", "2");

/** The keys of random items. */
export const key = fc.record({ pk: partition, sk });

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

const transaction = fc
  .tuple(
    fc.array(put, { maxLength: 3 }),
    fc.array(remove, { maxLength: 2 }),
    fc.array(update, { maxLength: 2 }),
  )
  .map(([puts, removes, updates]) => {
    const all = [
      ...puts.map((Put) => ({ key: Put.Item, item: { Put } })),
      ...removes.map((Delete) => ({ key: Delete.Key, item: { Delete } })),
      ...updates.map(({ ReturnValues, ...Update }) => ({ key: Update.Key, item: { Update } })),
    ];
    return [...new Map(all.map(({ key: { pk, sk }, item }) => [pk + sk, item])).values()];
  })
  .filter(({ length }) => length > 0);

const batch = fc
  .uniqueArray(item, { selector: ({ pk, sk }) => pk + sk, minLength: 1, maxLength: 3 })
  .map((items) =>
    items.map((Item, i) =>
      i % 2 ? { PutRequest: { Item } } : { DeleteRequest: { Key: { pk: Item.pk, sk: Item.sk } } },
    ),
  );

/** Creates a random write, a batch or a transaction. */
export const writingCommand = fc.oneof(
  {
    weight: 4,
    arbitrary: put.map((input) => () => new PutCommand({ ...input, ReturnConsumedCapacity })),
  },
  {
    weight: 1,
    arbitrary: remove.map((input) => () => new DeleteCommand({ ...input, ReturnConsumedCapacity })),
  },
  { weight: 2, arbitrary: update.map((input) => () => new UpdateCommand(input)) },
  {
    weight: 2,
    arbitrary: transaction.map(
      (TransactItems) => () => new TransactWriteCommand({ TransactItems, ReturnConsumedCapacity }),
    ),
  },
  {
    weight: 1,
    arbitrary: batch.map(
      (requests) => () => new BatchWriteCommand({ RequestItems: { [TableName]: requests } }),
    ),
  },
);
