import { logInvalidItem } from "../../dynamodb/invalid-items.ts";
import { activeConversationKey, conversationKey } from "../../dynamodb/keys.ts";
import { isAsRead, readItem, tableName } from "../../dynamodb/table-client.ts";
import { check, type TransactItems } from "../../dynamodb/transact.ts";
import { isId } from "../../ids.ts";
import { active, type Conversation, type Message } from "../../schemas/conversation-schemas.ts";
import { toLastMessage } from "./conversations.ts";

/** A lead and a channel, which have at most one active conversation. */
type LeadOnChannel = Pick<Conversation, "leadId" | "channel">;

/** How far ahead of this clock the last message of a conversation may be, in milliseconds. */
export const maxAhead = 60_000;

/** More messages than a conversation has. */
const maxMessages = 2 ** 40;

/** What a message may join: their active conversation, with a count and a time that the next message can change. */
const joinable = ({ leadId, channel }: LeadOnChannel) => ({
  condition:
    "#status = :active AND leadId = :leadId AND channel = :channel AND messageCount < :most AND activeAt < :ahead",
  ExpressionAttributeNames: { "#status": "status" },
  ExpressionAttributeValues: {
    ":active": active,
    ":leadId": leadId,
    ":channel": channel,
    ":most": maxMessages,
    ":ahead": new Date(Date.now() + maxAhead).toISOString(),
  },
});

/** What the next message of a conversation changes besides its time and its number, by its direction. */
const changesByDirection = {
  // What has the id of a change passes the filter of publish-events.
  outbound: "REMOVE changeId, awaitingReplySince",
  inbound:
    ", lastInboundAt = :at, awaitingReplySince = if_not_exists(awaitingReplySince, :at) REMOVE changeId",
};

/**
 * An update, in a transaction, that adds a message to a conversation which it may join, if it is later than all others.
 *
 * @param isReply whether an outbound message is one to all that the lead has written
 */
export function addMessage(account: string, message: Message, isReply = true) {
  const { condition, ExpressionAttributeNames, ExpressionAttributeValues } = joinable(message);
  const { conversationId, direction, createdAt } = message;
  return {
    Update: {
      TableName: tableName,
      Key: conversationKey(account, conversationId),
      UpdateExpression: `SET activeAt = :at, lastMessage = :last ${isReply ? changesByDirection[direction] : "REMOVE changeId"} ADD messageCount :one`,
      // Writers' clocks differ: without the last condition ids would not increase with each message that is stored, and
      // nobody could say who wrote last.
      ConditionExpression: `${condition} AND activeAt < :at`,
      ExpressionAttributeNames,
      ExpressionAttributeValues: {
        ...ExpressionAttributeValues,
        ":at": createdAt,
        ":last": toLastMessage(message),
        ":one": 1,
      },
      ReturnValuesOnConditionCheckFailure: "ALL_OLD" as const,
    },
  };
}

/** The conversation that the uniqueness lock of a lead on a channel names: a hint, also if its value is no id. */
export async function readLock(account: string, { leadId, channel }: LeadOnChannel): Promise<unknown> {
  const lock = await readItem(activeConversationKey(account, leadId, channel));
  if (lock && !isId("conv", lock.conversationId)) logWrongLock(account, { leadId, channel });
  return lock?.conversationId;
}

/** The conversation that a lock names and the one before it, the earlier first, which can be of others if the lock is invalid. */
export async function readLatest(account: string, { leadId, channel }: LeadOnChannel): Promise<string[]> {
  const lock = await readItem(activeConversationKey(account, leadId, channel));
  return [lock?.formerId, lock?.conversationId].filter((id) => isId("conv", id));
}

/** Logs that a lock does not name a conversation of its lead on its channel, which is left out: it is a caller's text. */
export const logWrongLock = (account: string, { leadId, channel }: LeadOnChannel): void =>
  logInvalidItem({ pk: activeConversationKey(account, leadId, channel).pk, field: "conversationId" });

/**
 * The parts of a transaction that make the lock of a lead on a channel name a conversation, if no message may join the one
 * that it named.
 *
 * @param named what the lock names
 */
export function takeLock(
  account: string,
  { id, leadId, channel }: LeadOnChannel & { id: string },
  named: unknown,
): TransactItems {
  const formerId = isId("conv", named) && named !== id ? named : undefined;
  const Item = { ...activeConversationKey(account, leadId, channel), conversationId: id, formerId };
  const put = { Put: { TableName: tableName, Item, ...isAsRead("conversationId", named) } };
  if (formerId === undefined) return [put];
  const { condition, ...expression } = joinable({ leadId, channel });
  const Key = conversationKey(account, formerId);
  // A client may make it active again at any moment.
  const ConditionExpression = `attribute_not_exists(pk) OR NOT (${condition})`;
  return [put, check(Key, { ConditionExpression, ...expression })];
}

/**
 * What a transaction that makes a conversation active writes and checks besides.
 *
 * @returns `activeId` if another conversation is active in its place; `isNamed` if the lock names it already
 */
export async function activation(account: string, conversation: LeadOnChannel & { id: string }) {
  const { id, leadId, channel } = conversation;
  const named = await readLock(account, conversation);
  const isNamed = named === id;
  const other = isId("conv", named) && !isNamed ? await readItem(conversationKey(account, named)) : undefined;
  if (other?.status === active && other.leadId === leadId && other.channel === channel)
    return { items: [], activeId: String(named), isNamed };
  return { items: takeLock(account, conversation, named), isNamed };
}
