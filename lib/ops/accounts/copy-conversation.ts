import { conversationItem } from "../../../shared/domain/conversations.ts";
import { leadExists } from "../../../shared/domain/leads.ts";
import { conversationKey } from "../../../shared/dynamodb/keys.ts";
import type { Pace } from "../../../shared/dynamodb/pace.ts";
import { queryAll } from "../../../shared/dynamodb/read-pages.ts";
import { type Item, readItem } from "../../../shared/dynamodb/table-client.ts";
import { buildUpdate, updateItem } from "../../../shared/dynamodb/updates.ts";
import { createdAt, isId } from "../../../shared/ids.ts";
import { active, type Conversation } from "../../../shared/schemas/conversation-schemas.ts";
import { isErased } from "../erasure/store-rows.ts";
import { activation } from "../table/active-conversation.ts";
import { messagesOf } from "../table/read-items.ts";
import { readWhole, toItem } from "../table/valid-records.ts";
import { asChange } from "../table/write-items.ts";
import { type Copying, type CopyOutcome, copyItem, differences } from "./copy-item.ts";

/** The status of a conversation in whose place another one is active. */
const ended = "closed";

/** Copies a conversation with its messages, and counts those that it then has. */
export async function copyConversation(copying: Copying, item: Item): Promise<void> {
  const { account, source, invalid, counts, left, dryRun, pace } = copying;
  const whole = readWhole(item, await source.messages(String(item.sk)), invalid);
  if (!whole) return;
  const { conversation, messages } = whole;
  const { id } = conversation;
  const items = messages.map((message) => toItem.message(account, message));
  const stored = new Map(
    (await queryAll(messagesOf(account, id), pace)).map((message) => [message.sk, message]),
  );
  const outcome = await copyWithoutMessages(copying, conversation, [...stored.values()]);
  counts[outcome] += 1;
  if (outcome === "erased" || outcome === "left") {
    counts[outcome] += items.length;
    if (outcome === "left") for (const message of items) left.note(message, "its conversation is left");
    return;
  }
  for (const message of items) {
    const found = stored.get(message.sk);
    const isStored = found && differences(found, message).length === 0;
    counts[isStored ? "present" : await copyItem(copying, message)] += 1;
  }
  if (!dryRun) await countMessages(account, id, pace);
}

/** Copies a conversation, with its lock if it is active: as closed, if another one is active in its place. */
async function copyWithoutMessages(
  copying: Copying,
  conversation: Conversation,
  messages: readonly Item[],
): Promise<CopyOutcome | "erased"> {
  const { account, left, wouldExist, pace } = copying;
  const { leadId, channel, status } = conversation;
  const item = conversationItem(account, conversation);
  if (isErased(copying, leadId)) return "erased";
  if (!wouldExist.has(leadId) && !(await pace.retry(() => leadExists(account, leadId)))) {
    left.note(item, "its lead does not exist");
    return "left";
  }
  return copyItem(copying, item, async (stored) => {
    // Otherwise who erases their lead would no longer find them.
    if (!stored && messages.some((message) => message.leadId !== leadId || message.channel !== channel))
      return { left: "its stored messages are of another lead or channel" };
    if (status !== active) return {};
    const { items, activeId, isNamed } = await activation(account, conversation);
    if (activeId !== undefined)
      return { item: conversationItem(account, { ...conversation, status: ended }) };
    return stored?.status === active && isNamed ? {} : { others: items };
  });
}

/**
 * Counts the messages of a conversation, and corrects their number and the time of the last one where the conversation has
 * others. A message that is sent meanwhile changes both, so they are counted again.
 */
const countMessages = (account: string, conversationId: string, pace: Pace): Promise<void> =>
  pace.retry(async () => {
    const key = conversationKey(account, conversationId);
    const conversation = await readItem(key);
    if (!conversation) return;
    const selection = { ...messagesOf(account, conversationId), ProjectionExpression: "sk" };
    const messages = await queryAll(selection, pace);
    const ids = messages.map(({ sk }) => sk).filter((id) => isId("msg", id));
    const lastId = ids.at(-1);
    if (lastId === undefined) return;
    const counted = { messageCount: ids.length, lastMessageAt: createdAt(lastId) };
    const { messageCount: count, lastMessageAt } = conversation;
    if (count === ids.length && lastMessageAt === counted.lastMessageAt) return;
    await updateItem(
      buildUpdate(key, asChange(conversation, counted), { messageCount: count, lastMessageAt }),
    );
  });
