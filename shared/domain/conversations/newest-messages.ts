import { QueryCommand } from "@aws-sdk/lib-dynamodb";
import { conversationKey, messageKey } from "../../dynamodb/keys.ts";
import { inPartition } from "../../dynamodb/read-pages.ts";
import { readItem, table, tableName } from "../../dynamodb/table-client.ts";
import type { TransactItems } from "../../dynamodb/transact.ts";
import { buildUpdate } from "../../dynamodb/updates.ts";
import { newId } from "../../ids.ts";
import { active, type Message } from "../../schemas/conversation-schemas.ts";
import { markChange } from "../marked-change.ts";
import { readMessage, summarize } from "./conversations.ts";

/** How many messages of a conversation count as its newest. */
export const newest = 100;

/** Reads the newest messages of a conversation consistently, oldest first. Invalid ones are left out. */
export async function readNewest(account: string, conversationId: string): Promise<Message[]> {
  const selection = { ConsistentRead: true, ScanIndexForward: false, Limit: newest };
  const { pk } = messageKey(account, conversationId, "");
  const command = new QueryCommand({ TableName: tableName, ...inPartition(pk), ...selection });
  const { Items = [] } = await table.send(command);
  return Items.flatMap((item) => readMessage(account, item) ?? []).reverse();
}

/**
 * The update of whether a lead waits for a reply, after a message fails or has not failed after all: it belongs to the same
 * transaction. The newest hundred messages decide, because older ones go unnoticed. An ended conversation never waits.
 *
 * @param message after the change
 */
export async function waitingUpdate(account: string, message: Message): Promise<TransactItems> {
  const key = conversationKey(account, message.conversationId);
  const read = await readItem(key);
  if (read?.status !== active) return [];
  const messages = await readNewest(account, message.conversationId);
  if (!messages.some(({ id }) => id === message.id)) return [];
  const { awaitingReplySince } = summarize(messages.map((each) => (each.id === message.id ? message : each)));
  // No message may join meanwhile, and no other message may fail: either could change the result.
  const { status, activeAt, messageCount, failureId } = read;
  const changes = { awaitingReplySince, failureId: newId("change") };
  const marked = markChange(read, changes, ["awaitingReplySince"]);
  return [{ Update: buildUpdate(key, marked, { status, activeAt, messageCount, failureId }) }];
}
