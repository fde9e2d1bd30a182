/** The part of the SDK that the test of modules that are not bundled bundles. */
export { DynamoDBClient, GetItemCommand } from "@aws-sdk/client-dynamodb";
