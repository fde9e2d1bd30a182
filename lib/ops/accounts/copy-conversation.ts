import { isDeepStrictEqual } from "node:util";
import { activation } from "../../../shared/domain/conversations/active-conversation.ts";
import { conversationItem } from "../../../shared/domain/conversations/conversations.ts";
import { conversationKey } from "../../../shared/dynamodb/keys.ts";
import { type Item, readItem } from "../../../shared/dynamodb/table-client.ts";
import { buildUpdate, updateItem } from "../../../shared/dynamodb/updates.ts";
import { inParallel } from "../../../shared/in-parallel.ts";
import { active, type Conversation } from "../../../shared/schemas/conversation-schemas.ts";
import { readMessageItems } from "../table/read-items.ts";
import { checkWritable } from "../table/store-rows.ts";
import { readStored, readWhole, toItem, withMessages } from "../table/valid-records.ts";
import { asChange } from "../table/write-items.ts";
import {
  type Adapt,
  type Copying,
  type CopyOutcome,
  copyItem,
  counters,
  differences,
  ifLeadExists,
} from "./copy-item.ts";

/** Copies the conversations of leads that are copied, with their messages. */
export async function copyConversations(copying: Copying): Promise<void> {
  // Closed conversations come first: closing one makes room for another active one of its lead on its channel. Sixteen are
  // copied at once, each with all of its messages in memory.
  for (const isActive of [false, true])
    await inParallel(copying.source.items("conversation"), async (item) => {
      if ((item.status === active) === isActive) await copyConversation(copying, item);
    });
}

/** Copies a conversation with its messages, and counts all messages that it then has. */
async function copyConversation(copying: Copying, item: Item): Promise<void> {
  const { account, source, invalid, counts, dryRun, pace } = copying;
  const items = await readMessageItems(source.account, item.sk, pace, source);
  const whole = readWhole(item, items, invalid);
  if (!whole) return;
  const { conversation } = whole;
  const messages = whole.messages.filter((message) => !copying.repeated.has(message.id));
  // All of its messages are already in another conversation of this table.
  if (messages.length === 0 && whole.messages.length > 0) return;
  const { id } = conversation;
  const wanted = messages.map((message) => toItem.message(account, message));
  const stored = new Map((await readMessageItems(account, id, pace)).map((message) => [message.sk, message]));
  const outcome = await copyWithoutMessages(copying, conversation, [...stored.values()]);
  counts[outcome] += 1;
  if (outcome === "erased" || outcome === "left") {
    counts[outcome] += wanted.length;
    if (outcome === "left")
      for (const message of wanted) invalid.note(message, "its conversation is left out");
    return;
  }
  const ofLead: Adapt = async (stored) => (stored ? {} : ifLeadExists(copying, conversation.leadId));
  for (const message of wanted) {
    const found = stored.get(message.sk);
    const isStored = found && differences(found, message).length === 0;
    counts[isStored ? "present" : await copyItem(copying, message, ofLead)] += 1;
  }
  if (!dryRun) await countMessages(copying, id);
}

/** Copies a conversation, with its lock if it is active. If another one is active in its place, it is copied as closed. */
async function copyWithoutMessages(
  copying: Copying,
  conversation: Conversation,
  messages: readonly Item[],
): Promise<CopyOutcome> {
  const { account, erased } = copying;
  const { leadId, channel, status } = conversation;
  if (erased.has(leadId)) return "erased";
  return copyItem(copying, conversationItem(account, conversation), async (stored) => {
    const ofLead = await ifLeadExists(copying, leadId);
    if (ofLead === "erased" || "left" in ofLead) return ofLead;
    const others = stored ? [] : ofLead.others;
    // Otherwise an erasure of the messages' lead would no longer find them.
    if (!stored && messages.some((message) => message.leadId !== leadId || message.channel !== channel))
      return { left: "its stored messages are of another lead or channel" };
    if (status !== active) return { others };
    const { items, activeId, isNamed } = await activation(account, conversation);
    if (activeId !== undefined) {
      const closed = { ...conversation, status: "closed", awaitingReplySince: undefined };
      return { item: conversationItem(account, closed), others };
    }
    return stored?.status === active && isNamed ? {} : { others: [...items, ...ofLead.others] };
  });
}

/**
 * Counts the messages of a conversation, and corrects the attributes that follow from them. If a message is stored
 * meanwhile, the update fails, and the messages are counted again.
 */
const countMessages = (copying: Copying, conversationId: string): Promise<void> =>
  copying.pace.retry(async () => {
    const { account, invalid, pace } = copying;
    const key = conversationKey(account, conversationId);
    const conversation = await readItem(key);
    if (!conversation) return;
    const items = await readMessageItems(account, conversationId, pace);
    const messages = items.flatMap((item) => readStored("message", item, invalid) ?? []);
    if (messages.length === 0) return;
    const counted = withMessages(conversation, messages);
    const changes = counters.filter((name) => !isDeepStrictEqual(conversation[name], counted[name]));
    if (changes.length === 0) return;
    const changed = Object.fromEntries(changes.map((name) => [name, counted[name]]));
    await checkWritable(copying);
    const { messageCount, activeAt, status, failureId } = conversation;
    const read = { messageCount, activeAt, status, failureId };
    await updateItem(buildUpdate(key, asChange(conversation, changed), read));
  });
