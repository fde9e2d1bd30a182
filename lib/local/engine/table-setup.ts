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
import { errorMessage, UserError } from "../../errors.ts";
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
  const existing = await describe(client, TableName).catch((error: unknown) => {
    throw new UserError(`The DynamoDB at ${endpoint} failed: ${errorMessage(error)}.`);
  });
  if (!existing) return create(client, definition);
  if (isDeepStrictEqual(toComparable(existing), toComparable(definition.input))) return;
  throw new UserError(
    `The table ${TableName} has other keys or indexes than the stack defines now: delete it, or set DATA_DIR to another directory.`,
  );
}

/** Creates the table at an endpoint if it does not exist. @returns the ARN of its stream */
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
export async function findStreamArn(client: DynamoDBClient, tableName: string): Promise<string> {
  const arn = (await describe(client, tableName))?.LatestStreamArn;
  if (!arn) throw new UserError(`The table ${tableName} has no stream: delete it and start again.`);
  return arn;
}

async function describe(client: DynamoDBClient, name: string): Promise<TableDescription | undefined> {
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

/** The parts in which a table must match its definition, sorted. */
function toComparable(table: TableShape) {
  const keys = (schema: TableDescription["KeySchema"] = []) =>
    schema.map(({ AttributeName, KeyType }) => `${AttributeName} ${KeyType}`).sort();
  return {
    keys: keys(table.KeySchema),
    attributes: table.AttributeDefinitions?.map((it) => `${it.AttributeName} ${it.AttributeType}`).sort(),
    indexes: table.GlobalSecondaryIndexes?.map((it) =>
      [it.IndexName, ...keys(it.KeySchema), it.Projection?.ProjectionType].join(" "),
    ).sort(),
    stream: table.StreamSpecification?.StreamViewType,
  };
}
