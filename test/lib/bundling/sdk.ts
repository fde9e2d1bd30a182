/** The part of the SDK that `external-modules.test.ts` bundles. */
export { DynamoDBClient, GetItemCommand } from "@aws-sdk/client-dynamodb";
