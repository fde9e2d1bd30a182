import { checkKeys, ifValid, logInvalidItem } from "../dynamodb/invalid-items.ts";
import {
  activeConversationKey,
  conversationKey,
  keyAttributes,
  labelPartition,
  leadConversationsPartition,
  messageKey,
  statusAndLabelPartition,
  statusPartition,
} from "../dynamodb/keys.ts";
import { type Item, readItem, tableName } from "../dynamodb/table-client.ts";
import { InvalidItemError } from "../errors.ts";
import { isId } from "../ids.ts";
import { normalizeLabel } from "../normalize-label.ts";
import { type Page, type PageRequest, toOrder, type Unfiltered } from "../pages/page.ts";
import { type Range, walk } from "../pages/read/range.ts";
import { withinBudget } from "../pages/read/read-budget.ts";
import { readList } from "../pages/read/read-list.ts";
import {
  type ActivityTimes,
  activityWindow,
  type CreationTimes,
  creationWindow,
  isBounded,
} from "../pages/read/window.ts";
import { countedLists } from "../pages/tree/counted-list.ts";
import { admitLongList } from "../rate-limit/list-admission.ts";
import {
  active,
  type Conversation,
  type ConversationsQuery,
  type Message,
  type OpenedConversation,
} from "../schemas/conversation-schemas.ts";
import { defaultLimit } from "../schemas/page-schemas.ts";
import { readRecord } from "../schemas/record.ts";
import { validateConversation, validateMessage } from "../schemas/record-validators.ts";

/** A page of the account's conversations, newest first unless the query says otherwise. */
export async function listConversations(
  account: string,
  {
    id: ids,
    leadId,
    channel,
    status,
    sort,
    ...times
  }: Omit<ConversationsQuery, "include" | "messageLimit" | "messagesBefore">,
  page: PageRequest,
): Promise<Page<Conversation>> {
  times satisfies Unfiltered<typeof times, keyof CreationTimes | keyof ActivityTimes>;
  const list = countedLists.conversation;
  const parent = leadId === undefined ? undefined : leadConversationsPartition(account, leadId);
  const filter = { status: status && normalizeLabel(status), label: channel && normalizeLabel(channel) };
  const window = creationWindow(list, times);
  const active = activityWindow(times);
  const selection = { account, list, ids, parent, filter, window, active };
  const request = { ...page, ...toOrder(sort) };
  // The index by activity does not copy the keys of the others.
  const keys = request.byActivity || isBounded(active) ? ["pk", "sk"] : keyAttributes;
  return readList(selection, request, toListed(account, keys), () => admitLongList(account));
}

/**
 * The same with the newest messages of the one conversation that the query names, if it includes them. What is stored as a
 * message and is none is left out.
 */
export async function openConversations(
  account: string,
  { include, messageLimit, messagesBefore, ...query }: ConversationsQuery,
  request: PageRequest,
): Promise<Page<OpenedConversation>> {
  const page = await listConversations(account, query, request);
  if (include === undefined) return page;
  const limit = Number(messageLimit ?? defaultLimit);
  const open = async (conversation: Conversation) => ({
    ...conversation,
    messages: await readMessages(account, conversation.id, limit, messagesBefore),
  });
  return { ...page, data: await Promise.all(page.data.map(open)) };
}

/** The messages of a conversation before one of them, newest first. */
async function readMessages(
  account: string,
  conversationId: string,
  maxRows: number,
  before?: string,
): Promise<Message[]> {
  const toMessage = (item: Item) => ifValid(() => readMessage(account, item));
  const { pk } = messageKey(account, conversationId, "");
  const range: Range = {
    ...{ list: { idPrefix: "msg_" }, partition: pk, rows: {} },
    where: (item) => toMessage(item) !== undefined,
  };
  const { items } = await withinBudget(
    pk,
    () => admitLongList(account),
    (call) => walk(range, { before, maxRows }, call),
  );
  return items.flatMap((item) => toMessage(item) ?? []);
}

/** The message of an item. @throws InvalidItemError */
function readMessage(account: string, item: Item): Message {
  if (!isId("msg", item.sk)) throw new InvalidItemError(item, "sk");
  const message = readRecord(validateMessage, item);
  checkKeys(item, messageKey(account, message.conversationId, message.id));
  return message;
}

/** The item of a conversation: its fields, and a key for each index that lists it. */
export function conversationItem(account: string, conversation: Conversation) {
  const { id, leadId, channel } = conversation;
  return {
    ...conversationKey(account, id),
    ...conversationStatusKeys(account, conversation),
    byLabel: labelPartition("conversation", account, channel),
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
  byStatusAndLabel: statusAndLabelPartition("conversation", account, status, channel),
});

/** The conversation of an item whose keys must be its own, by default also those of the indexes. @throws InvalidItemError */
const toListed =
  (account: string, keys: readonly string[] = keyAttributes) =>
  (item: Item) => {
    const conversation = readRecord(validateConversation, item);
    checkKeys(item, conversationItem(account, conversation), keys);
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
    ":active": active,
    ":leadId": leadId,
    ":channel": channel,
    ":most": maxMessages,
    ":ahead": new Date(Date.now() + maxAhead).toISOString(),
  },
});

/** An update, in a transaction, that adds a message to a conversation which it may join, if it is later than all others. */
export function addMessage(account: string, { conversationId, createdAt, ...message }: Message) {
  const { condition, ExpressionAttributeNames, ExpressionAttributeValues } = joinable(message);
  return {
    Update: {
      TableName: tableName,
      Key: conversationKey(account, conversationId),
      // What has the id of a change passes the filter of publish-events.
      UpdateExpression: "SET lastMessageAt = :at REMOVE changeId ADD messageCount :one",
      // Writers' clocks differ: without the last condition ids would not increase with each message that is stored.
      ConditionExpression: `${condition} AND lastMessageAt < :at`,
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

/** The conversation that the uniqueness lock of a lead on a channel names: a hint, also if its value is no id. */
export async function readLock(account: string, { leadId, channel }: LeadOnChannel): Promise<unknown> {
  const lock = await readItem(activeConversationKey(account, leadId, channel));
  if (lock && !isId("conv", lock.conversationId)) logWrongLock(account, { leadId, channel });
  return lock?.conversationId;
}

/** Logs that a lock does not name a conversation of its lead on its channel, which is left out: it is a caller's text. */
export const logWrongLock = (account: string, { leadId, channel }: LeadOnChannel): void =>
  logInvalidItem({ pk: activeConversationKey(account, leadId, channel).pk, field: "conversationId" });
