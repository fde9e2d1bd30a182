import {
  conversationKey,
  leadConversationsPartition,
  listPartition,
  originPartition,
  statusAndOriginPartition,
  statusPartition,
} from "./keys.ts";
import { listPage, type Range } from "./pages/counted-query.ts";
import type { Page, PageRequest } from "./pages/page.ts";
import {
  type Conversation,
  type ConversationsQuery,
  conversation as conversationSchema,
  recordOf,
} from "./schemas.ts";

/** A page of the account's conversations, newest first. */
export function listConversations(
  account: string,
  filter: ConversationsQuery,
  page: PageRequest,
): Promise<Page<Conversation>> {
  return listPage(conversationsRange(account, filter), page, toConversation);
}

function conversationsRange(account: string, { leadId, channel, status }: ConversationsQuery): Range {
  if (leadId) {
    const where = { ...(channel && { channel }), ...(status && { status }) };
    return { index: "by-parent", partition: leadConversationsPartition(account, leadId), where };
  }
  if (status && channel) {
    const partition = statusAndOriginPartition("conversation", account, status, channel);
    return { index: "by-status-and-origin", partition };
  }
  if (status) return { index: "by-status", partition: statusPartition("conversation", account, status) };
  if (channel) return { index: "by-origin", partition: originPartition("conversation", account, channel) };
  return { partition: listPartition("conversation", account) };
}

/** A conversation as it is stored: its fields, and a key for each index that lists it. */
export function conversationItem(account: string, conversation: Conversation) {
  const { id, leadId, channel, status } = conversation;
  return {
    ...conversationKey(account, id),
    byStatus: statusPartition("conversation", account, status),
    byOrigin: originPartition("conversation", account, channel),
    byStatusAndOrigin: statusAndOriginPartition("conversation", account, status, channel),
    byParent: leadConversationsPartition(account, leadId),
    ...conversation,
  };
}

const toConversation = (item: Record<string, unknown>) => recordOf<Conversation>(conversationSchema, item);
