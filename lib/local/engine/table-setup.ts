import { isDeepStrictEqual } from "node:util";
import {
  CreateTableCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  ResourceInUseException,
  type TableDescription,
  UpdateTimeToLiveCommand,
  waitUntilTableExists,
} from "@aws-sdk/client-dynamodb";
import { errorMessage, UserError } from "../../user-error.ts";
import type { TableDefinition } from "../template/table-definition.ts";
import { engineClient } from "./dynamodb-client.ts";

/**
 * Creates the table at an endpoint if it does not exist.
 *
 * @returns the ARN of its stream
 * @throws UserError when it exists with other keys, indexes or stream settings, or the engine does not respond
 */
export async function prepareTable(definition: TableDefinition, endpoint: string): Promise<string> {
  const { TableName } = definition.input;
  const client = engineClient(endpoint);
  try {
    await createTable(client, definition).catch((error: unknown) => {
      throw new UserError(`The DynamoDB at ${endpoint} failed: ${errorMessage(error)}.`);
    });
    const { Table = {} } = await client.send(new DescribeTableCommand({ TableName }));
    if (!isDeepStrictEqual(toComparable(Table), toComparable(definition.input)))
      throw new UserError(
        `The table ${TableName} has other keys, indexes or another stream than the stack defines now: delete it, or set DATA_DIR to another directory.`,
      );
    return String(Table.LatestStreamArn);
  } finally {
    client.destroy();
  }
}

async function createTable(
  client: DynamoDBClient,
  { input, timeToLiveAttribute: AttributeName }: TableDefinition,
): Promise<void> {
  const { TableName } = input;
  const created = await client.send(new CreateTableCommand(input)).catch((error: unknown) => {
    if (!(error instanceof ResourceInUseException)) throw error;
  });
  // Another run on the same engine may be creating it.
  await waitUntilTableExists({ client, maxWaitTime: 120, minDelay: 0.05, maxDelay: 2 }, { TableName });
  if (!created || AttributeName === undefined) return;
  const TimeToLiveSpecification = { AttributeName, Enabled: true };
  await client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }));
}

type TableShape = Pick<
  TableDescription,
  "KeySchema" | "AttributeDefinitions" | "GlobalSecondaryIndexes" | "StreamSpecification"
>;

/** The parts in which a table must match its definition, in any order. */
const toComparable = (table: TableShape) => ({
  keys: new Set(table.KeySchema),
  attributes: new Set(table.AttributeDefinitions),
  stream: table.StreamSpecification?.StreamViewType,
  indexes: new Set(
    table.GlobalSecondaryIndexes?.map(({ IndexName, KeySchema, Projection }) => ({
      IndexName,
      keys: new Set(KeySchema),
      type: Projection?.ProjectionType,
      attributes: new Set(Projection?.NonKeyAttributes),
    })),
  ),
});
