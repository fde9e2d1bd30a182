import { checkedReader, ifValid } from "../../dynamodb/invalid-items.ts";
import { accountPartition, conversationKey, keyAttributes, messageKey } from "../../dynamodb/keys.ts";
import type { Item } from "../../dynamodb/table-client.ts";
import { normalizeLabel } from "../../normalize-label.ts";
import { type Page, pageRequest, toOrder } from "../../pages/page.ts";
import { byChange } from "../../pages/read/choose-index.ts";
import type { Range } from "../../pages/read/range.ts";
import { withinBudget } from "../../pages/read/read-budget.ts";
import { readList } from "../../pages/read/read-list.ts";
import { walk } from "../../pages/read/row-reader.ts";
import { creationWindow, timeWindow } from "../../pages/read/window.ts";
import { countedLists } from "../../pages/tree/counted-list.ts";
import {
  type Conversation,
  type ConversationsQuery,
  lastMessage as lastMessageSchema,
  type Message,
  type OpenedConversation,
} from "../../schemas/conversation-schemas.ts";
import { defaultLimit } from "../../schemas/page-schemas.ts";
import { validateConversation, validateMessage } from "../../schemas/record-validators.ts";

/**
 * Reads a page of the account's conversations, newest first unless the query sorts them. Conversations that wait for a reply
 * begin with the longest waiting.
 */
export async function listConversations(
  account: string,
  {
    id: ids,
    leadId,
    channel,
    status,
    sort,
    lastMessageAfter,
    lastMessageBefore,
    awaitingReply,
    awaitingReplyAfter,
    awaitingReplyBefore,
    page,
    limit,
    createdAfter,
    createdBefore,
    ...unread
  }: Omit<ConversationsQuery, "include" | "messageLimit" | "messagesBefore">,
): Promise<Page<Conversation>> {
  // A parameter that is not read here would be accepted and do nothing.
  unread satisfies Record<string, never>;
  const list = countedLists.conversation;
  // The index `by-waiting` does not copy the key of `by-parent`.
  const parent =
    leadId === undefined || awaitingReply ? undefined : accountPartition("conversation", account, leadId);
  const isAsked = (item: Item) => leadId === undefined || item.leadId === leadId;
  const filter = { status: status && normalizeLabel(status), label: channel && normalizeLabel(channel) };
  const window = creationWindow(list, createdAfter, createdBefore);
  const order = awaitingReply ? ({ by: "by-waiting", ascending: true } as const) : toOrder(sort);
  const timed = awaitingReply
    ? ({ index: "by-waiting", window: timeWindow(awaitingReplyAfter, awaitingReplyBefore) } as const)
    : byChange(order, lastMessageAfter, lastMessageBefore);
  const paging = pageRequest({ page, limit });
  const request = { ...paging, ...order, account, list, ids, isAsked, parent, filter, window, timed };
  // The indexes by time do not copy the keys of the other indexes.
  const keys = timed ? ["pk", "sk"] : keyAttributes;
  const read = checkedReader(validateConversation, (each) => conversationItem(account, each), keys);
  return readList(request, read);
}

/**
 * Reads the same page, with the newest messages of the one conversation that the query names, if it includes messages.
 * Invalid messages are left out.
 */
export async function openConversations(
  account: string,
  { include, messageLimit, messagesBefore, ...query }: ConversationsQuery,
): Promise<Page<OpenedConversation>> {
  const page = await listConversations(account, query);
  if (include === undefined) return page;
  const limit = Number(messageLimit ?? defaultLimit);
  const open = async (conversation: Conversation) => ({
    ...conversation,
    messages: await readMessages(account, conversation.id, limit, messagesBefore),
  });
  return { ...page, data: await Promise.all(page.data.map(open)) };
}

/** Reads the message of an item; undefined if the item is not a message with its key, which is logged. */
export function readMessage(account: string, item: Item): Message | undefined {
  const toKey = ({ conversationId, id }: Message) => messageKey(account, conversationId, id);
  return ifValid(() => checkedReader(validateMessage, toKey)(item));
}

/** Reads the newest messages of a conversation, or the newest before a message id; newest first. */
async function readMessages(account: string, conversationId: string, maxRows: number, before?: string) {
  const { pk } = messageKey(account, conversationId, "");
  const where = (item: Item) => readMessage(account, item) !== undefined;
  const range: Range = { list: { type: "message" }, partition: pk, where };
  const { items } = await withinBudget(account, pk, (call) => walk(range, { before, maxRows }, call));
  return items.flatMap((item) => readMessage(account, item) ?? []);
}

/** The item of a conversation: its fields, and a key for each index that lists it. */
export function conversationItem(account: string, conversation: Conversation) {
  const { createdAt, lastMessageAt, ...fields } = conversation;
  const { id, leadId, channel, status } = fields;
  return {
    ...conversationKey(account, id),
    byStatus: accountPartition("conversation", account, status),
    byStatusAndLabel: accountPartition("conversation", account, status, channel),
    byLabel: accountPartition("conversation", account, channel),
    byParent: accountPartition("conversation", account, leadId),
    activeAt: lastMessageAt,
    ...fields,
  };
}

/**
 * The most bytes of a message's text that its conversation shows. With labels in ASCII, the item of a conversation then has
 * less than 1 KB, so a write of it costs one unit.
 */
const maxBytes = 256;

/** What a conversation shows of its last message. */
export function toLastMessage({ direction, message }: Message): Conversation["lastMessage"] {
  const characters = [...message].slice(0, lastMessageSchema.properties.text.maxLength).join("");
  // `encodeInto` encodes only whole characters.
  const { read } = new TextEncoder().encodeInto(characters, new Uint8Array(maxBytes));
  return { direction, text: characters.slice(0, read) };
}

/** The fields of a conversation that follow from its messages. @param messages at least one, oldest first */
export function summarize(messages: readonly Message[]) {
  const last = messages.at(-1);
  if (!last) throw new Error("A conversation has a message.");
  const isInbound = ({ direction }: Message) => direction === "inbound";
  // A failed message is no reply.
  const reply = messages.findLastIndex((message) => !isInbound(message) && message.delivery !== "failed");
  return {
    lastMessageAt: last.createdAt,
    messageCount: messages.length,
    lastMessage: toLastMessage(last),
    lastInboundAt: messages.findLast(isInbound)?.createdAt,
    awaitingReplySince: messages.slice(reply + 1).find(isInbound)?.createdAt,
  };
}
