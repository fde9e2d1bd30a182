import { BatchGetCommand, QueryCommand, TransactGetCommand } from "@aws-sdk/lib-dynamodb";
import { findList } from "../../../shared/pages/tree/counted-list.ts";

/** Whether a command reads rows, from the table or from an index. */
export function readsRows(command: object): boolean {
  if (command instanceof BatchGetCommand) return keysOf(command).every(({ pk }) => isOfRows(pk));
  if (!(command instanceof QueryCommand)) return false;
  const { ":partition": ofReader, ":pk": ofMaintainer } = command.input.ExpressionAttributeValues ?? {};
  return command.input.IndexName !== undefined || isOfRows(ofReader ?? ofMaintainer);
}

/** Whether a command writes nothing. */
export const isRead = (command: object) => /^((Batch|Transact)?Get|Query)/.test(command.constructor.name);

/** Whether a command may see earlier versions of rows. */
export function isEventual(command: object): boolean {
  const { input } = command as { input: { IndexName?: string; ConsistentRead?: boolean } };
  if (command instanceof BatchGetCommand) return requestsOf(command).some((it) => !it.ConsistentRead);
  return isRead(command) && !(command instanceof TransactGetCommand) && !input.ConsistentRead;
}

const isOfRows = (pk: unknown) => findList(String(pk)) !== undefined;

const requestsOf = ({ input }: BatchGetCommand) => Object.values(input.RequestItems ?? {});

const keysOf = (command: BatchGetCommand) => requestsOf(command).flatMap(({ Keys = [] }) => Keys);
