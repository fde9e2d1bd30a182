import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { requiredEnv } from "./env.ts";

/** The one table's name. */
export const tableName = requiredEnv("TABLE_NAME");

/**
 * The one client, kept for the life of the execution environment. An attempt that takes a second has failed, and the
 * SDK makes two: so none starts with an id that is older than two seconds, and none lands when it is five.
 */
export const table = DynamoDBDocumentClient.from(
  new DynamoDBClient({
    maxAttempts: 2,
    requestHandler: { connectionTimeout: 1000, requestTimeout: 1000, throwOnRequestTimeout: true },
  }),
  { marshallOptions: { removeUndefinedValues: true } },
);
