import { isDeepStrictEqual } from "node:util";
import {
  CreateTableCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  ResourceInUseException,
  ResourceNotFoundException,
  type TableDescription,
  UpdateTimeToLiveCommand,
  waitUntilTableExists,
} from "@aws-sdk/client-dynamodb";
import { errorMessage, UserError } from "../../user-error.ts";
import type { TableDefinition } from "../template/table-definition.ts";
import { engineClient } from "./dynamodb-client.ts";

/**
 * Creates the table if it does not exist.
 *
 * @throws UserError when it exists with other keys, indexes or stream settings, or the engine does not respond
 */
export async function ensureTable(
  client: DynamoDBClient,
  definition: TableDefinition,
  endpoint: string,
): Promise<void> {
  const { TableName } = definition.input;
  const existing = await describeTable(client, TableName).catch((error: unknown) => {
    throw new UserError(`The DynamoDB at ${endpoint} failed: ${errorMessage(error)}.`);
  });
  if (!existing) return create(client, definition);
  if (!isDeepStrictEqual(toComparable(existing), toComparable(definition.input)))
    throw new UserError(
      `The table ${TableName} has other keys, indexes or another stream than the stack defines now: delete it, or set DATA_DIR to another directory.`,
    );
}

/** Prepares the table at an endpoint, as a deployment does. @returns the ARN of its stream */
export async function prepareTable(definition: TableDefinition, endpoint: string): Promise<string> {
  const client = engineClient(endpoint);
  try {
    await ensureTable(client, definition, endpoint);
    return await findStreamArn(client, definition.input.TableName);
  } finally {
    client.destroy();
  }
}

/** Finds the ARN of the table's stream in the engine. */
async function findStreamArn(client: DynamoDBClient, tableName: string): Promise<string> {
  const arn = (await describeTable(client, tableName))?.LatestStreamArn;
  if (!arn) throw new UserError(`The table ${tableName} has no stream: delete it and start again.`);
  return arn;
}

async function describeTable(client: DynamoDBClient, name: string): Promise<TableDescription | undefined> {
  try {
    return (await client.send(new DescribeTableCommand({ TableName: name }))).Table;
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined;
    throw error;
  }
}

async function create(
  client: DynamoDBClient,
  { input, timeToLiveAttribute }: TableDefinition,
): Promise<void> {
  const { TableName } = input;
  const isCreator = await client.send(new CreateTableCommand(input)).then(
    () => true,
    (error: unknown) => {
      // Another run on the same engine created it first.
      if (error instanceof ResourceInUseException) return false;
      throw error;
    },
  );
  await waitUntilTableExists({ client, maxWaitTime: 120, minDelay: 0.05, maxDelay: 2 }, { TableName });
  if (!isCreator || timeToLiveAttribute === undefined) return;
  const TimeToLiveSpecification = { AttributeName: timeToLiveAttribute, Enabled: true };
  await client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }));
}

type TableShape = Pick<
  TableDescription,
  "KeySchema" | "AttributeDefinitions" | "GlobalSecondaryIndexes" | "StreamSpecification"
>;

/** The parts in which a table must match its definition. */
const toComparable = (table: TableShape) => ({
  keys: toKeys(table, table.KeySchema),
  stream: table.StreamSpecification?.StreamViewType,
  indexes: (table.GlobalSecondaryIndexes ?? [])
    .map(({ IndexName, KeySchema, Projection }) =>
      [
        ...[IndexName, ...toKeys(table, KeySchema), Projection?.ProjectionType],
        ...(Projection?.NonKeyAttributes?.toSorted() ?? []),
      ].join(" "),
    )
    .sort(),
});

/** The keys of a table or an index with their types, sorted. */
const toKeys = ({ AttributeDefinitions = [] }: TableShape, schema: TableShape["KeySchema"] = []) =>
  schema
    .map(({ AttributeName: name, KeyType }) => {
      const attribute = AttributeDefinitions.find(({ AttributeName }) => AttributeName === name);
      return `${name} ${attribute?.AttributeType} ${KeyType}`;
    })
    .sort();
