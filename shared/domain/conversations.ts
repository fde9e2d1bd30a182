import {
  activeConversationKey,
  conversationKey,
  keyAttributes,
  leadConversationsPartition,
  sourceOrChannelPartition,
  statusAndSourceOrChannelPartition,
  statusPartition,
} from "../dynamodb/keys.ts";
import { checkKeys, logMalformed } from "../dynamodb/malformed-items.ts";
import { type Item, readItem, tableName } from "../dynamodb/table-client.ts";
import { isId } from "../ids.ts";
import type { Page, PageRequest } from "../pages/page.ts";
import { listPage } from "../pages/read/list-page.ts";
import { creationWindow } from "../pages/read/window.ts";
import { countedLists } from "../pages/tree/counted-list.ts";
import {
  active,
  type Conversation,
  type ConversationsQuery,
  type Message,
} from "../schemas/conversation-schemas.ts";
import { readRecord } from "../schemas/record.ts";
import { validateConversation } from "../schemas/record-validators.ts";
import { storedName } from "../stored-name.ts";
import { admitLongList } from "./list-admission.ts";

/** A page of the account's conversations, newest first. */
export async function listConversations(
  account: string,
  { id: ids, leadId, channel, status, ...times }: ConversationsQuery,
  page: PageRequest,
): Promise<Page<Conversation>> {
  const list = countedLists.conversation;
  const parent = leadId === undefined ? undefined : leadConversationsPartition(account, leadId);
  const filter = { status: status && storedName(status), sourceOrChannel: channel && storedName(channel) };
  const selection = { account, list, ids, parent, filter, window: creationWindow(list, times) };
  return listPage(selection, page, toListed(account), () => admitLongList(account));
}

/** The item of a conversation: its fields, and a key for each index that lists it. */
export function conversationItem(account: string, conversation: Conversation) {
  const { id, leadId, channel } = conversation;
  return {
    ...conversationKey(account, id),
    ...conversationStatusKeys(account, conversation),
    byOrigin: sourceOrChannelPartition("conversation", account, channel),
    byParent: leadConversationsPartition(account, leadId),
    ...conversation,
  };
}

/** The keys of the indexes in which a conversation moves when its status changes. */
export const conversationStatusKeys = (
  account: string,
  { status, channel }: Pick<Conversation, "status" | "channel">,
) => ({
  byStatus: statusPartition("conversation", account, status),
  byStatusAndOrigin: statusAndSourceOrChannelPartition("conversation", account, status, channel),
});

/** The conversation of an item whose keys must be its own, also those of the indexes. @throws MalformedItemError */
const toListed = (account: string) => (item: Item) => {
  const conversation = readRecord(validateConversation, item);
  checkKeys(item, conversationItem(account, conversation), keyAttributes);
  return conversation;
};

/** A lead and a channel, which have at most one active conversation. */
type LeadOnChannel = Pick<Conversation, "leadId" | "channel">;

/** How far ahead of this clock the last message of a conversation may be, in milliseconds. */
export const maxAhead = 60_000;

/** More messages than a conversation has. */
const maxMessages = 2 ** 40;

/** What a message may join: their active conversation, with a count and a time that the next message can change. */
const joinable = ({ leadId, channel }: LeadOnChannel) => ({
  condition:
    "#status = :active AND leadId = :leadId AND channel = :channel AND messageCount < :most AND lastMessageAt < :ahead",
  ExpressionAttributeNames: { "#status": "status" },
  ExpressionAttributeValues: {
    ...{ ":active": active, ":leadId": leadId, ":channel": channel, ":most": maxMessages },
    ":ahead": new Date(Date.now() + maxAhead).toISOString(),
  },
});

/** An update, in a transaction, that adds a message to a conversation which it may join. */
export function addMessage(account: string, { conversationId, createdAt, ...message }: Message) {
  const { condition, ExpressionAttributeNames, ExpressionAttributeValues } = joinable(message);
  return {
    Update: {
      TableName: tableName,
      Key: conversationKey(account, conversationId),
      // What has the id of a change passes the filter of the event pipe.
      UpdateExpression: "SET lastMessageAt = :at REMOVE changeId ADD messageCount :one",
      // Writers' clocks differ: without the last condition lastMessageAt could go back.
      ConditionExpression: `${condition} AND lastMessageAt <= :at`,
      ExpressionAttributeNames,
      ExpressionAttributeValues: { ...ExpressionAttributeValues, ":at": createdAt, ":one": 1 },
      ReturnValuesOnConditionCheckFailure: "ALL_OLD" as const,
    },
  };
}

/**
 * A check, in a transaction, that no message may join a conversation of theirs: an operator may reactivate it at any moment.
 */
export function isNotJoinable(account: string, id: string, pair: LeadOnChannel) {
  const { condition, ...expression } = joinable(pair);
  return {
    ConditionCheck: {
      TableName: tableName,
      Key: conversationKey(account, id),
      ConditionExpression: `attribute_not_exists(pk) OR NOT (${condition})`,
      ...expression,
    },
  };
}

/** The conversation that the pointer of a lead on a channel names: a hint, also if its value is no id. */
export async function readPointer(account: string, { leadId, channel }: LeadOnChannel): Promise<unknown> {
  const pointer = await readItem(activeConversationKey(account, leadId, channel));
  if (pointer && !isId("conv", pointer.conversationId)) logWrongPointer(account, { leadId, channel });
  return pointer?.conversationId;
}

/** Logs that a pointer does not name a conversation of its lead on its channel, which is left out: it is a caller's text. */
export const logWrongPointer = (account: string, { leadId, channel }: LeadOnChannel): void =>
  logMalformed({ pk: activeConversationKey(account, leadId, channel).pk, field: "conversationId" });
