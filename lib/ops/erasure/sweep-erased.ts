import { accountPartition } from "../../../shared/dynamodb/keys.ts";
import { type Pace, readsPerWrite } from "../../../shared/dynamodb/pace.ts";
import { inPartition, queryItems } from "../../../shared/dynamodb/read-pages.ts";
import type { Item } from "../../../shared/dynamodb/table-client.ts";
import { buildUpdate, updateItem } from "../../../shared/dynamodb/updates.ts";
import { findOwner } from "../table/item-owner.ts";
import { scanTable } from "../table/read-items.ts";
import { deleteItems, ignoreOthers } from "../table/write-items.ts";
import { type ItemsToErase, isOfLead } from "./items-to-erase.ts";

/**
 * Deletes the items of the leads or of the account. The conversations of leads are deleted last: after an interruption, the
 * next run needs them to find the items that name them.
 *
 * @returns the tree nodes of an account, which are not deleted
 */
export async function sweep(found: ItemsToErase, pace: Pace, dryRun = false): Promise<Item[]> {
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
      else (leads && type === "conversation" ? last : now).push(item);
    }
    await deleteItems(now, pace);
  };
  // The conversations must be known before the messages and the idempotency records that name them.
  const conversations = { ...inPartition(accountPartition("conversation", account)), ...attributes };
  if (leads) for await (const items of queryItems(conversations, pace)) await onItems(items);
  const other = leads ? accountPartition("conversation", account) : accountPartition("account", account);
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
