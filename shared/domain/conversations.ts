import {
  conversationKey,
  leadConversationsPartition,
  sourceOrChannelPartition,
  statusAndSourceOrChannelPartition,
  statusPartition,
} from "../dynamodb/keys.ts";
import { tableName } from "../dynamodb/table-client.ts";
import { countedPage } from "../pages/counted-page.ts";
import { countedQuery } from "../pages/counted-query.ts";
import type { Page, PageRequest } from "../pages/page.ts";
import type { Range } from "../pages/range.ts";
import { countedLists } from "../pages/tree/counted-list.ts";
import {
  type Conversation,
  type ConversationsQuery,
  conversation as conversationSchema,
  toRecord,
} from "../schemas.ts";

/** A page of the account's conversations, newest first. */
export function listConversations(
  account: string,
  filter: ConversationsQuery,
  page: PageRequest,
): Promise<Page<Conversation>> {
  const { leadId, channel, status } = filter;
  if (leadId === undefined) {
    const owner = { account, list: countedLists.conversation };
    return countedPage(owner, { status, sourceOrChannel: channel }, page, toConversation);
  }
  // A lead has few conversations, so they are counted by reading them.
  const where = { ...(channel && { channel }), ...(status && { status }) };
  const range: Range = { index: "by-parent", partition: leadConversationsPartition(account, leadId), where };
  return countedQuery(range, page, toConversation);
}

/** A conversation as it is stored: its fields, and a key for each index that lists it. */
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

/** The conversation that an item of the table holds. */
export const toConversation = (item: Record<string, unknown>) =>
  toRecord<Conversation>(conversationSchema, item);

/** A check, in a transaction, that a conversation has ended: an operator may set it active again at any moment. */
export const isNotActive = (account: string, id: string) => ({
  ConditionCheck: {
    TableName: tableName,
    Key: conversationKey(account, id),
    ConditionExpression: "attribute_not_exists(pk) OR #status <> :active",
    ExpressionAttributeNames: { "#status": "status" },
    ExpressionAttributeValues: { ":active": "active" },
  },
});
