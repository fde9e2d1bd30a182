import {
  activeConversationKey,
  leadConversationsPartition,
  leadEmailPartition,
  listPartition,
  messageKey,
} from "../../../shared/dynamodb/keys.ts";
import type { AnyPace, Pace } from "../../../shared/dynamodb/pace.ts";
import { inPartition, keysOnly, queryAll } from "../../../shared/dynamodb/read-pages.ts";
import { type Item, type Key, readItem } from "../../../shared/dynamodb/table-client.ts";
import { fieldsOf } from "../../../shared/schemas/record.ts";
import type { Note } from "./invalid-items.ts";
import { ofParent } from "./read-items.ts";

/**
 * The items of the leads with an email address, in any letter case, oldest first.
 *
 * @param note called with leads that the index lists, and whose own address cannot be read
 */
export async function readLeadsByEmail(
  account: string,
  email: string,
  pace: Pace,
  note: Note,
): Promise<Item[]> {
  const listed = await listByParent(leadEmailPartition(account, email), pace);
  const keys = listed.filter(({ pk }) => pk === listPartition("lead", account));
  const items = await readEach(keys, pace);
  return items.filter((item) => {
    const { email: own } = fieldsOf(item);
    if (typeof own === "string") return own.toLowerCase() === email.toLowerCase();
    note(item, "its email is not a string");
    return false;
  });
}

/** Whether a stored value is short enough for an id or a name, and so for a part of a key. */
export const isKeyPart = (value: unknown): value is string =>
  typeof value === "string" && /^.{1,128}$/su.test(value);

/**
 * The locks of a lead, and the ids of the conversations that the index lists for it, oldest first, or that its locks
 * name. Their items may name another lead.
 */
export async function findConversations(account: string, leadId: string, pace: Pace) {
  if (!isKeyPart(leadId)) return { locks: [], ids: [] };
  const locks = await queryAll(inPartition(activeConversationKey(account, leadId, "").pk), pace);
  const named = locks.map(({ conversationId }) => conversationId).filter(isKeyPart);
  const keys = await listByParent(leadConversationsPartition(account, leadId), pace);
  const listed = keys.filter(({ pk }) => pk === listPartition("conversation", account)).map(({ sk }) => sk);
  return { locks, ids: [...new Set([...listed, ...named])] };
}

/** The items of the messages of a conversation, oldest first. */
export const messagesOf = (account: string, conversationId: string) =>
  inPartition(messageKey(account, conversationId, "").pk);

/** The same of a conversation that may be stored under a longer key than ids have, and then has none. */
export const readMessageItems = async (account: string, conversationId: unknown, pace: Pace) =>
  isKeyPart(conversationId) ? queryAll(messagesOf(account, conversationId), pace) : [];

/** The keys of the items, of any type, that the index `by-parent` lists for a value. An item may be gone, or have another value. */
export const listByParent = (parent: string, pace: AnyPace) =>
  queryAll({ ...ofParent(parent), ...keysOnly }, pace) as Promise<unknown> as Promise<Key[]>;

/** How many items are read at the same time. */
const itemsAtOnce = 16;

/** Reads those items that exist, consistently. */
export async function readEach(keys: readonly Key[], pace: AnyPace): Promise<Item[]> {
  const items: Item[] = [];
  for (let from = 0; from < keys.length; from += itemsAtOnce) {
    const some = keys.slice(from, from + itemsAtOnce);
    const read = await Promise.all(some.map(({ pk, sk }) => pace.retry(() => readItem({ pk, sk }))));
    items.push(...read.filter((item) => item !== undefined));
    await pace.spend(some.length);
  }
  return items;
}
