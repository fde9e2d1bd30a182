import { BatchGetCommand, GetCommand, QueryCommand, type QueryCommandInput } from "@aws-sdk/lib-dynamodb";
import fc from "fast-check";
import { tableName } from "../../../shared/dynamodb/table-client.ts";
import { key, sk } from "./writing-commands.ts";

const TableName = tableName;
const ReturnConsumedCapacity = "TOTAL" as const;

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

/** Some batches have a key twice. */
const batch = fc.record({
  Keys: fc.array(key, { minLength: 1, maxLength: 5 }),
  ConsistentRead: fc.option(fc.boolean(), { nil: undefined }),
  part: fc.constantFrom(
    {},
    { ProjectionExpression: "pk, sk, #status", ExpressionAttributeNames: { "#status": "status" } },
  ),
});

/** Creates a random read. */
export const readingCommand = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.tuple(key, fc.boolean()).map(
      ([Key, ConsistentRead]) =>
        () =>
          new GetCommand({ TableName, Key, ConsistentRead, ReturnConsumedCapacity }),
    ),
  },
  {
    weight: 2,
    arbitrary: batch.map(
      ({ part, ...rest }) =>
        () =>
          new BatchGetCommand({
            RequestItems: { [TableName]: { ...rest, ...part } },
            ReturnConsumedCapacity,
          }),
    ),
  },
  { weight: 4, arbitrary: query.map((input) => () => new QueryCommand(input)) },
);
