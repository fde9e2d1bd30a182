import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import {
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
} from "@aws-sdk/lib-dynamodb";

/** The client and the commands that every function on DynamoDB must load. */
const table = DynamoDBDocumentClient.from(new DynamoDBClient());
const commands = { GetCommand, PutCommand, QueryCommand, TransactWriteCommand };

export const handler = (name: "GetCommand", input: never) => table.send(new commands[name](input));
