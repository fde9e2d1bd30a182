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

export const handler = async (event: { command: keyof typeof commands; input: never }) =>
  table.send(new commands[event.command](event.input) as QueryCommand);
