import { setTimeout } from "node:timers/promises";
import {
  type AttributeDefinition,
  DescribeTableCommand,
  type DynamoDBClient,
  type GlobalSecondaryIndexUpdate,
  type TableDescription,
  UpdateTableCommand,
} from "@aws-sdk/client-dynamodb";
import type { TableDefinition } from "../template/table-definition.ts";

/** What of a table cannot be changed, or only index by index. */
export type TableShape = Pick<
  TableDescription,
  "KeySchema" | "AttributeDefinitions" | "GlobalSecondaryIndexes" | "StreamSpecification"
>;

/** Removes the indexes that are not defined, and adds those that are missing, one after the other as DynamoDB requires it. */
export async function replaceIndexes(
  client: DynamoDBClient,
  input: TableDefinition["input"],
  existing: TableDescription,
  log: (line: string) => void,
): Promise<void> {
  const { TableName, AttributeDefinitions = [] } = input;
  const [found, defined] = [indexesByShape(existing), indexesByShape(input)];
  const update = async (change: GlobalSecondaryIndexUpdate, attributes?: AttributeDefinition[]) => {
    const AttributeDefinitions = attributes && { AttributeDefinitions: attributes };
    const parameters = { TableName, GlobalSecondaryIndexUpdates: [change], ...AttributeDefinitions };
    await client.send(new UpdateTableCommand(parameters));
    while (!isActive((await client.send(new DescribeTableCommand({ TableName }))).Table))
      await setTimeout(100);
  };
  for (const [shape, { IndexName }] of found) {
    if (defined.has(shape)) continue;
    log(`Removing the index ${IndexName} from the table …`);
    await update({ Delete: { IndexName } });
  }
  for (const [shape, { IndexName, KeySchema = [], Projection }] of defined) {
    if (found.has(shape)) continue;
    log(`Adding the index ${IndexName} to the table …`);
    const names = new Set(KeySchema.map(({ AttributeName }) => AttributeName));
    const attributes = AttributeDefinitions.filter(({ AttributeName }) => names.has(AttributeName));
    await update({ Create: { IndexName, KeySchema, Projection } }, attributes);
  }
}

const isActive = ({ TableStatus, GlobalSecondaryIndexes = [] }: TableDescription = {}) =>
  [TableStatus, ...GlobalSecondaryIndexes.map(({ IndexStatus }) => IndexStatus)].every(
    (status) => status === "ACTIVE",
  );

/** The indexes of a table by what cannot be changed in one: its name, its keys and its projection. */
const indexesByShape = (table: TableShape) =>
  new Map(
    table.GlobalSecondaryIndexes?.map((index) => [
      [index.IndexName, ...toKeys(table, index.KeySchema), index.Projection?.ProjectionType].join(" "),
      index,
    ]),
  );

/** The keys of a table or an index with their types, sorted. */
export const toKeys = ({ AttributeDefinitions = [] }: TableShape, schema: TableShape["KeySchema"] = []) =>
  schema
    .map(({ AttributeName: name, KeyType }) => {
      const attribute = AttributeDefinitions.find(({ AttributeName }) => AttributeName === name);
      return `${name} ${attribute?.AttributeType} ${KeyType}`;
    })
    .sort();
