import {
  activeConversationKey,
  leadConversationsPartition,
  leadEmailPartition,
  listPartition,
  messageKey,
} from "../../../shared/dynamodb/keys.ts";
import type { Pace } from "../../../shared/dynamodb/pace.ts";
import { queryAll } from "../../../shared/dynamodb/read-pages.ts";
import { type Item, type Key, readItem } from "../../../shared/dynamodb/table-client.ts";
import { inPartition, keysOnly, ofParent } from "../common/read-items.ts";

/**
 * The items of the leads with an email address, in any letter case, oldest first.
 *
 * @param note called with leads that the index lists, and whose own address cannot be read
 */
export async function readLeadsByEmail(
  account: string,
  email: string,
  pace: Pace,
  note?: (item: Item, reason: string) => void,
): Promise<Item[]> {
  const isLead = ({ pk }: Key) => pk === listPartition("lead", account);
  const items = await readEach(await listByParent(leadEmailPartition(account, email), isLead, pace), pace);
  for (const item of items) if (typeof item.email !== "string") note?.(item, "its email is not a string");
  return items.filter((item) => String(item.email).toLowerCase() === email.toLowerCase());
}

/** The items of all conversations of a lead, oldest first. */
export async function readLeadConversations(account: string, leadId: string, pace: Pace): Promise<Item[]> {
  const items = await readEach(await listConversations(account, leadId, pace), pace);
  return items.filter((item) => item.leadId === leadId);
}

/** The keys of the conversations that the index lists for a lead, oldest first. Their rows may name another one. */
export function listConversations(account: string, leadId: string, pace: Pace): Promise<Key[]> {
  const isConversation = ({ pk }: Key) => pk === listPartition("conversation", account);
  return listByParent(leadConversationsPartition(account, leadId), isConversation, pace);
}

/** The pointers to the active conversations of a lead. */
export const readPointers = (account: string, leadId: string, pace: Pace) =>
  queryAll(inPartition(activeConversationKey(account, leadId, "").pk), pace);

/** The items of the messages of a conversation, oldest first. */
export const messagesOf = (account: string, conversationId: string) =>
  inPartition(messageKey(account, conversationId, "").pk);

/** The keys of the items in a partition that the index `by-parent` lists for a value. An item may be gone, or have another value. */
export async function listByParent(
  parent: string,
  inTable: (key: Key) => boolean,
  pace: Pace,
): Promise<Key[]> {
  const keys = await queryAll({ ...ofParent(parent), ...keysOnly }, pace);
  return (keys as unknown as readonly Key[]).filter(inTable);
}

/** How many items are read at the same time. */
const parallel = 16;

/** Reads those items that exist, consistently. */
export async function readEach(keys: readonly Key[], pace: Pace): Promise<Item[]> {
  const items: Item[] = [];
  for (let from = 0; from < keys.length; from += parallel) {
    const some = keys.slice(from, from + parallel);
    const read = await Promise.all(some.map(({ pk, sk }) => pace.retry(() => readItem({ pk, sk }))));
    items.push(...read.filter((item) => item !== undefined));
    await pace.spend(some.length);
  }
  return items;
}
