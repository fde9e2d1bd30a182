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

interface Event {
  readonly command: "GetCommand";
  readonly input: never;
  /** How many times the item is read, at the same time. */
  readonly calls: number;
}

export async function handler({ command, input, calls }: Event) {
  const reads = Array.from({ length: calls }, () => table.send(new commands[command](input)));
  const [first] = await Promise.all(reads);
  return { statusCode: 200, body: JSON.stringify(first?.Item ?? null) };
}
