import {
  accountPartition,
  activeConversationKey,
  leadEmailPartition,
  messageKey,
} from "../../../shared/dynamodb/keys.ts";
import type { AnyPace, Pace } from "../../../shared/dynamodb/pace.ts";
import {
  inPartition,
  keysOnly,
  type OtherTable,
  queryAll,
  type ScanSelection,
  scanItems,
} from "../../../shared/dynamodb/read-pages.ts";
import { type Item, type Key, readItem } from "../../../shared/dynamodb/table-client.ts";
import { inParallel } from "../../../shared/in-parallel.ts";
import { type CountedOwner, countedLists } from "../../../shared/pages/tree/counted-list.ts";
import { fieldsOf } from "../../../shared/schemas/record.ts";
import type { InvalidItems } from "./invalid-items.ts";

/** The lists of an account, which are counted. */
export const countedOwners = (account: string): CountedOwner[] =>
  Object.values(countedLists).map((list) => ({ account, list }));

/** How many parts of the table are read at the same time. */
const segments = 8;

/**
 * Reads the whole table, consistently, in several parts at the same time: the only way to find items whose partition key
 * is not known.
 *
 * @param onItems called with the items of each page that pass the filter
 */
export async function scanTable(
  selection: ScanSelection,
  pace: Pace,
  onItems: (items: readonly Item[]) => void | Promise<void>,
  other?: OtherTable,
): Promise<void> {
  const scan = async (Segment: number) => {
    const part = { ...selection, Segment, TotalSegments: segments, ConsistentRead: true };
    // `onItems` may delete a page. The embedded DynamoDB reads nothing after a deleted item, so the next page is read first.
    let former: readonly Item[] = [];
    for await (const { Items = [] } of scanItems(part, pace, undefined, other)) {
      await onItems(former);
      former = Items;
    }
    await onItems(former);
  };
  await Promise.all(Array.from({ length: segments }, (_, segment) => scan(segment)));
}

/**
 * The items of the leads with an email address, in any letter case, oldest first.
 *
 * @param invalid gets the leads that the index lists, and whose own address cannot be read
 */
export async function readLeadsByEmail(account: string, email: string, pace: Pace, invalid: InvalidItems) {
  const listed = await listByParent(leadEmailPartition(account, email), pace);
  const keys = listed.filter(({ pk }) => pk === accountPartition("lead", account));
  const items = await readEach(keys, pace);
  return items.filter((item) => {
    const { email: own } = fieldsOf(item);
    if (typeof own === "string") return own.toLowerCase() === email.toLowerCase();
    invalid.note(item, "its email is not a string");
    return false;
  });
}

/** Whether a stored value is short enough for an id or a name, and so for a part of a key. */
const isKeyPart = (value: unknown): value is string =>
  typeof value === "string" && /^.{1,160}$/su.test(value);

/**
 * The locks of a lead, and the ids of the conversations that the index lists for it, oldest first, or that its locks
 * name. Their items may name another lead.
 */
export async function findConversations(account: string, leadId: string, pace: Pace) {
  if (!isKeyPart(leadId)) return { locks: [], ids: [] };
  const locks = await queryAll(inPartition(activeConversationKey(account, leadId, "").pk), pace);
  const named = locks.map(({ conversationId }) => conversationId).filter(isKeyPart);
  const keys = await listByParent(accountPartition("conversation", account, leadId), pace);
  const listed = keys
    .filter(({ pk }) => pk === accountPartition("conversation", account))
    .map(({ sk }) => sk);
  return { locks, ids: [...new Set([...listed, ...named])].sort() };
}

/** The items of the messages of a conversation, oldest first. If its key is longer than any id, it cannot have messages. */
export const readMessageItems = async (account: string, id: unknown, pace: Pace, other?: OtherTable) =>
  isKeyPart(id) ? queryAll(inPartition(messageKey(account, id, "").pk), pace, other) : [];

/** The keys that the index `by-parent` lists for a value, of any type. Their items may be deleted, or have another value. */
export function listByParent(parent: string, pace: AnyPace) {
  const selection = {
    IndexName: "by-parent",
    KeyConditionExpression: "byParent = :parent",
    ExpressionAttributeValues: { ":parent": parent },
    ...keysOnly,
  };
  return queryAll(selection, pace) as Promise<unknown> as Promise<Key[]>;
}

/** Reads those items that exist, consistently. */
export async function readEach(keys: readonly Key[], pace: AnyPace): Promise<Item[]> {
  const items: (Item | undefined)[] = [];
  await inParallel([...keys.entries()], async ([i, { pk, sk }]) => {
    items[i] = await pace.retry(() => readItem({ pk, sk }));
    await pace.spend(1);
  });
  return items.filter((item) => item !== undefined);
}
