import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import {
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
} from "@aws-sdk/lib-dynamodb";

/** The clients and commands that any function on DynamoDB must load. */
const table = DynamoDBDocumentClient.from(new DynamoDBClient());
const commands = { GetCommand, PutCommand, QueryCommand, TransactWriteCommand };

export async function handler({ command, input }: { command: "GetCommand"; input: never }) {
  const { Item } = await table.send(new commands[command](input));
  return { statusCode: 200, body: JSON.stringify(Item ?? null) };
}
