/** The part of the SDK that the test of its replaced modules bundles. */
export { DynamoDBClient, GetItemCommand } from "@aws-sdk/client-dynamodb";
