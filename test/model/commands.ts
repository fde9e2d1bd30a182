import { BatchGetCommand, QueryCommand } from "@aws-sdk/lib-dynamodb";
import { itemTypes } from "../../shared/dynamodb/keys.ts";

/** Whether a command reads rows, from the table or from an index. */
export function readsRows(command: object): boolean {
  if (command instanceof BatchGetCommand) return true;
  if (!(command instanceof QueryCommand)) return false;
  const partition = String(command.input.ExpressionAttributeValues?.[":partition"]);
  return [itemTypes.lead, itemTypes.conversation].some((type) => partition.startsWith(type));
}

/** Whether a command may see the rows as they were. */
export function isEventual(command: object): boolean {
  if (command instanceof QueryCommand) return command.input.IndexName !== undefined;
  if (!(command instanceof BatchGetCommand)) return false;
  const { RequestItems = {} } = command.input;
  return Object.values(RequestItems).some(({ ConsistentRead }) => !ConsistentRead);
}
