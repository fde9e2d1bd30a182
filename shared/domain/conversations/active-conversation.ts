import { activeConversationKey, conversationKey } from "../../dynamodb/keys.ts";
import { type Item, isAsRead, readItem, tableName } from "../../dynamodb/table-client.ts";
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

/** The condition on a conversation that a message may join: active, of this pair, with a count and a time that can rise. */
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

/** What a message changes in its conversation besides the last message, its time and the count, by direction. */
const changesByDirection = {
  // Removes the change's id: an item that has one passes the filter of publish-events.
  outbound: "REMOVE changeId, awaitingReplySince",
  inbound:
    ", lastInboundAt = :at, awaitingReplySince = if_not_exists(awaitingReplySince, :at) REMOVE changeId",
};

/**
 * Adds a message to a conversation, as a part of a transaction, if the message may join and is later than all others in it.
 *
 * @param isReply whether an outbound message answers everything that the lead has written
 */
export function addMessage(account: string, message: Message, isReply = true) {
  const { condition, ExpressionAttributeNames, ExpressionAttributeValues } = joinable(message);
  const { conversationId, direction, createdAt } = message;
  return {
    Update: {
      TableName: tableName,
      Key: conversationKey(account, conversationId),
      UpdateExpression: `SET activeAt = :at, lastMessage = :last ${isReply ? changesByDirection[direction] : "REMOVE changeId"} ADD messageCount :one`,
      // Writers' clocks differ: without the last condition, a message could be stored after a message with a later
      // id, and it would be unclear which message is the last.
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

/**
 * Reads which conversation the uniqueness lock of a lead on a channel names, and which one it named before. The values are
 * hints: they may not be ids, or be of another lead.
 */
export const readLock = async (account: string, { leadId, channel }: LeadOnChannel): Promise<Item> =>
  (await readItem(activeConversationKey(account, leadId, channel))) ?? {};

/**
 * The parts of a transaction that make the lock of a lead on a channel name a conversation. They fail if a message may join
 * the conversation that the lock named before.
 *
 * @param named what the lock names, as it was read
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
  // A client may make the former conversation active again at any moment.
  const ConditionExpression = `attribute_not_exists(pk) OR NOT (${condition})`;
  return [put, check(Key, { ConditionExpression, ...expression })];
}

/**
 * The further parts of a transaction that makes a conversation active.
 *
 * @returns `activeId` if another conversation is active instead; `isNamed` if the lock already names this one
 */
export async function activation(account: string, conversation: LeadOnChannel & { id: string }) {
  const { id, leadId, channel } = conversation;
  const { conversationId: named } = await readLock(account, conversation);
  const isNamed = named === id;
  const other = isId("conv", named) && !isNamed ? await readItem(conversationKey(account, named)) : undefined;
  if (other?.status === active && other.leadId === leadId && other.channel === channel)
    return { items: [], activeId: String(named), isNamed };
  return { items: takeLock(account, conversation, named), isNamed };
}
