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

/**
 * Creates the table if the engine has none of its name.
 *
 * @throws UserError when it has one with other keys, indexes or stream
 */
export async function ensureTable(
  client: DynamoDBClient,
  definition: TableDefinition,
  endpoint: string,
): Promise<void> {
  const { TableName } = definition.input;
  const existing = await describe(client, TableName).catch((error: unknown) => {
    throw new UserError(`The DynamoDB at ${endpoint} does not answer as it should: ${errorMessage(error)}.`);
  });
  if (!existing) return create(client, definition);
  if (isDeepStrictEqual(shape(existing), shape(definition.input))) return;
  throw new UserError(
    `The table ${TableName} was made with other keys or indexes than the stack has now: delete it, or start with another DATA_DIR.`,
  );
}

/** The table's stream, as the engine names it. */
export async function findStreamArn(client: DynamoDBClient, tableName: string): Promise<string> {
  const arn = (await describe(client, tableName))?.LatestStreamArn;
  if (!arn) throw new UserError(`The table ${tableName} has no stream: delete it, and start again.`);
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
  const isOurs = await client.send(new CreateTableCommand(input)).then(
    () => true,
    (error: unknown) => {
      // Another run on the same engine came first.
      if (error instanceof ResourceInUseException) return false;
      throw error;
    },
  );
  await waitUntilTableExists({ client, maxWaitTime: 120, minDelay: 0.05, maxDelay: 2 }, { TableName });
  if (!isOurs || timeToLiveAttribute === undefined) return;
  const TimeToLiveSpecification = { AttributeName: timeToLiveAttribute, Enabled: true };
  await client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }));
}

type Shape = Pick<
  TableDescription,
  "KeySchema" | "AttributeDefinitions" | "GlobalSecondaryIndexes" | "StreamSpecification"
>;

/** What must be the same in a table and its definition, in one order. */
function shape(table: Shape) {
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
