import { accountPartition, conversationKey, leadKey } from "../../../shared/dynamodb/keys.ts";
import { type Pace, readsPerWrite } from "../../../shared/dynamodb/pace.ts";
import { inPartition, queryItems } from "../../../shared/dynamodb/read-pages.ts";
import type { Item } from "../../../shared/dynamodb/table-client.ts";
import { buildUpdate, updateItem } from "../../../shared/dynamodb/updates.ts";
import { findOwner } from "../table/item-owner.ts";
import { findConversations, isKeyPart, messagesOf, readEach, scanTable } from "../table/read-items.ts";
import { deleteItems, ignoreOthers } from "../table/write-items.ts";
import { type ItemsToErase, isOfLead, type Subject } from "./items-to-erase.ts";

/** How items are found. */
export interface Sweeping {
  readonly pace: Pace;
  /** Whether to read the whole table. Otherwise an index finds the conversations, and idempotency records are not found. */
  readonly scan: boolean;
  readonly dryRun?: boolean;
}

/**
 * Deletes the items of the leads or of the account. The conversations and locks of leads are deleted last: after an
 * interruption, they lead the next run to all remaining items, also without a scan.
 *
 * @returns the tree nodes of an account, which are not deleted
 */
export async function sweep(found: ItemsToErase, { pace, scan, dryRun = false }: Sweeping): Promise<Item[]> {
  const { account, leads } = found.subject;
  const nodes: Item[] = [];
  const last: Item[] = [];
  const onItems = async (items: readonly Item[]) => {
    const taken = found.take(items);
    if (dryRun) return;
    const now: Item[] = [];
    for (const item of taken) {
      const type = findOwner(item)?.type;
      if (type === "count") nodes.push(item);
      else if (leads && type === "idempotency" && isOfLead(item.ids)) await forgetResponse(item, pace);
      else (leads && (type === "conversation" || type === "active") ? last : now).push(item);
    }
    await deleteItems(now, pace);
  };
  // The conversations must be known before the messages and the idempotency records that name them.
  const conversations = { ...inPartition(accountPartition("conversation", account)), ...attributes };
  const first = scan ? queryItems(conversations, pace) : readListed(found.subject, pace);
  if (leads) for await (const items of first) await onItems(items);
  const other = leads ? accountPartition("conversation", account) : accountPartition("account", account);
  if (scan)
    await scanTable(selectItems(account), pace, (items) => onItems(items.filter(({ pk }) => pk !== other)));
  await deleteItems(last, pace);
  return nodes;
}

const attributes = {
  ProjectionExpression: "pk, sk, id, leadId, ids, accountId, #response",
  ExpressionAttributeNames: { "#response": "response" },
};

/** Removes the lead from an idempotency record. The record stays: until it expires, no retry stores the lead again. */
async function forgetResponse({ pk, sk, ids }: Item, pace: Pace): Promise<void> {
  const update = buildUpdate({ pk: String(pk), sk: String(sk) }, { response: undefined }, { ids });
  await pace.retry(() => updateItem(update).catch(ignoreOthers));
  await pace.spend(readsPerWrite);
}

/**
 * Selects all items that can belong to the account, also those whose key contains the account only in percent-encoded form.
 * `ItemsToErase` then decides for each item.
 */
const selectItems = (account: string) => ({
  ...attributes,
  FilterExpression: "contains(pk, :account) OR accountId = :account OR contains(pk, :encoded)",
  ExpressionAttributeValues: { ":account": account, ":encoded": "%" },
});

/** Reads the items of leads to which the index and the locks lead. Both may also lead to items of other leads. */
async function* readListed({ account, leads = new Set() }: Subject, pace: Pace) {
  // The locks or the index can lead from two leads to the same conversation.
  const read = new Set<string>();
  for (const leadId of leads) {
    const { locks, ids: found } = await findConversations(account, leadId, pace);
    const ids = found.filter((id) => !read.has(id));
    for (const id of ids) read.add(id);
    const keys = ids.map((id) => conversationKey(account, id));
    // The second attempt of a call that creates a lead without names can have stored the lead again.
    yield await readEach([leadKey(account, leadId), ...keys], pace);
    // Messages are read even if their conversation does not exist yet or any more, or names another lead.
    for (const id of ids) if (isKeyPart(id)) yield* queryItems(messagesOf(account, id), pace);
    yield locks;
  }
}
