import { DynamoDBClient, type DynamoDBClientConfig } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, GetCommand } from "@aws-sdk/lib-dynamodb";
import { requiredEnv } from "../env.ts";

/** The primary key of an item. */
export type Key = Readonly<{ pk: string; sk: string }>;

/** The attributes of an item, or some of them. */
export type Item = Readonly<Record<string, unknown>>;

/** How long after the start of a call its second attempt may start, in milliseconds. */
const latestAttempt = 2000;

/** The time limits of a function: no attempt starts with an id older than two seconds, and none lands after five. */
const functionLimits: DynamoDBClientConfig = {
  maxAttempts: 2,
  requestHandler: { connectionTimeout: 1000, requestTimeout: 1000, throwOnRequestTimeout: true },
};

/** The name of the one table. Lambda functions read it from their environment at cold start. */
export let tableName = process.env.AWS_LAMBDA_FUNCTION_NAME
  ? requiredEnv("TABLE_NAME")
  : (process.env.TABLE_NAME ?? "");

/** The client of the table, kept for the life of the execution environment. */
export let table = toDocumentClient(refuseLateAttempts(new DynamoDBClient(functionLimits)));

/** Selects another table, with another client's settings: for commands, which have no environment of a function. */
export function selectTable(name: string, config: DynamoDBClientConfig): void {
  tableName = name;
  table = toDocumentClient(new DynamoDBClient(config));
}

function toDocumentClient(client: DynamoDBClient): DynamoDBDocumentClient {
  return DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
}

/**
 * A response for want of time leaves a call behind, and Lambda freezes the environment: without this the call would go
 * on in the next invocation, whenever that is.
 */
function refuseLateAttempts(client: DynamoDBClient): DynamoDBClient {
  client.middlewareStack.add(
    (next, context) => (args) => {
      context.startedAt = Date.now();
      return next(args);
    },
    { step: "initialize", name: "start-time" },
  );
  client.middlewareStack.add(
    (next, context) => (args) => {
      if (Date.now() - context.startedAt > latestAttempt) throw new LateAttemptError();
      return next(args);
    },
    { step: "finalizeRequest", priority: "low", name: "latest-attempt" },
  );
  return client;
}

/** Named like the timeout of the attempt before it. */
class LateAttemptError extends Error {
  override readonly name = "TimeoutError";
  override readonly message = "It is too late for another attempt.";
}

/** Reads an item, or a part of it, consistently. */
export async function readItem(
  key: Key,
  part: { readonly ProjectionExpression?: string } = {},
): Promise<Item | undefined> {
  const command = new GetCommand({ TableName: tableName, Key: key, ConsistentRead: true, ...part });
  return (await table.send(command)).Item;
}
