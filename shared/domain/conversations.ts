import {
  activeConversationKey,
  conversationKey,
  leadConversationsPartition,
  sourceOrChannelPartition,
  statusAndSourceOrChannelPartition,
  statusPartition,
} from "../dynamodb/keys.ts";
import { type Item, readItem, tableName } from "../dynamodb/table-client.ts";
import type { Page, PageRequest } from "../pages/page.ts";
import { listPage } from "../pages/read/list-page.ts";
import { creationWindow } from "../pages/read/window.ts";
import { countedLists } from "../pages/tree/counted-list.ts";
import {
  active,
  type Conversation,
  type ConversationsQuery,
  conversation as conversationSchema,
} from "../schemas/conversation-schemas.ts";
import { toRecord } from "../schemas/record.ts";
import { admitLongList } from "./long-lists.ts";
import { storedName } from "./stored-name.ts";

/** A page of the account's conversations, newest first. */
export async function listConversations(
  account: string,
  { id, leadId, channel, status, ...times }: ConversationsQuery,
  page: PageRequest,
): Promise<Page<Conversation>> {
  const list = countedLists.conversation;
  const parent = leadId === undefined ? undefined : leadConversationsPartition(account, leadId);
  const filter = { status: status && storedName(status), sourceOrChannel: channel && storedName(channel) };
  const selection = { account, list, id, parent, filter, window: creationWindow(list, times) };
  return listPage(selection, page, toConversation, () => admitLongList(account));
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

/** The conversation of an item. */
export const toConversation = (item: Item): Conversation => toRecord(conversationSchema, item);

/** A check, in a transaction, that a conversation is not active: an operator may reactivate it at any moment. */
export const isNotActive = (account: string, id: string) => ({
  ConditionCheck: {
    TableName: tableName,
    Key: conversationKey(account, id),
    ConditionExpression: "attribute_not_exists(pk) OR #status <> :active",
    ExpressionAttributeNames: { "#status": "status" },
    ExpressionAttributeValues: { ":active": active },
  },
});

/** The id of the conversation that the pointer of a lead on a channel names; it may no longer be active. */
export async function activeConversation(
  account: string,
  { leadId, channel }: { readonly leadId: string; readonly channel: string },
): Promise<string | undefined> {
  const pointer = await readItem(activeConversationKey(account, leadId, channel));
  return pointer?.conversationId as string | undefined;
}

/** The condition that the pointer of a lead on a channel names this conversation, or does not exist. */
export const pointerNames = (conversationId: string | undefined) =>
  conversationId === undefined
    ? { ConditionExpression: "attribute_not_exists(pk)" }
    : {
        ConditionExpression: "conversationId = :named",
        ExpressionAttributeValues: { ":named": conversationId },
      };
