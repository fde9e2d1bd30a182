import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, GetCommand } from "@aws-sdk/lib-dynamodb";
import { requiredEnv } from "../env.ts";

/** The one table's name. */
export const tableName = requiredEnv("TABLE_NAME");

/** How long after a call's beginning its second attempt may start, in milliseconds. */
const latestAttempt = 2000;

const client = new DynamoDBClient({
  maxAttempts: 2,
  requestHandler: { connectionTimeout: 1000, requestTimeout: 1000, throwOnRequestTimeout: true },
});

// An invocation that was answered for want of time leaves its call behind, and Lambda freezes the environment: without
// this the call would go on in the next invocation, whenever that is.
client.middlewareStack.add(
  (next, context) => (args) => {
    context.beganAt = Date.now();
    return next(args);
  },
  { step: "initialize", name: "beginning" },
);
client.middlewareStack.add(
  (next, context) => (args) => {
    if (Date.now() - context.beganAt > latestAttempt) throw new LateAttemptError();
    return next(args);
  },
  { step: "finalizeRequest", priority: "low", name: "latest-attempt" },
);

/** Has the name of an attempt that timed out, as what came before it did. */
class LateAttemptError extends Error {
  override readonly name = "TimeoutError";
  override readonly message = "It is too late for another attempt.";
}

/**
 * The one client, kept for the life of the execution environment. An attempt that takes a second has failed, and the
 * SDK makes two: so none starts with an id that is older than two seconds, and none lands when it is five.
 */
export const table = DynamoDBDocumentClient.from(client, {
  marshallOptions: { removeUndefinedValues: true },
});

/** An item, or a part of it, as it is now. */
export async function readItem(
  key: Readonly<Record<string, string>>,
  part: { readonly ProjectionExpression?: string } = {},
) {
  const command = new GetCommand({ TableName: tableName, Key: key, ConsistentRead: true, ...part });
  return (await table.send(command)).Item;
}
