import { indexes, sublistKey } from "../../../shared/dynamodb/keys.ts";
import type { Key } from "../../../shared/dynamodb/table-client.ts";
import type { CountedOwner, SublistOwner } from "../../../shared/pages/tree/counted-list.ts";
import { treeKey } from "../../../shared/pages/tree/tree-store.ts";
import { countedOwners } from "../counts/all-owners.ts";
import { readSublists } from "../counts/tree-items.ts";
import { deleteItems } from "../delete-items.ts";
import type { Pace } from "../pace.ts";
import { inPartition, keysOnly, queryItems } from "../query-items.ts";

/**
 * Deletes the trees of leads and of email addresses without rows: their records contain the id or the address. Other trees
 * name nobody.
 */
export async function dropEmptySublists(account: string, pace: Pace): Promise<void> {
  for (const whole of countedOwners(account))
    for (const owner of await readSublists(whole, pace))
      if (owner.sublist.index === "by-parent" && (await isEmpty(owner, pace))) await dropSublist(owner, pace);
}

async function isEmpty({ sublist: { index, partition } }: SublistOwner, pace: Pace): Promise<boolean> {
  const selection = {
    IndexName: index,
    KeyConditionExpression: "#partition = :partition",
    ExpressionAttributeNames: { "#partition": indexes[index] },
    ExpressionAttributeValues: { ":partition": partition },
    ProjectionExpression: "sk",
    Limit: 1,
  };
  const { value: rows = [] } = await queryItems(selection, pace).next();
  return rows.length === 0;
}

/** Deletes the tree of a sublist, and then its record, by which it is found. */
export async function dropSublist(owner: SublistOwner, pace: Pace): Promise<void> {
  const { account, list, sublist } = owner;
  await dropTree(owner, pace);
  await deleteItems([sublistKey(list.type, account, sublist)], pace);
}

/** Deletes a tree, its root first: from then on no list reads it, and no maintainer commits to it. @returns how many items */
export async function dropTree(owner: CountedOwner, pace: Pace): Promise<number> {
  const root = treeKey(owner, "root");
  let items = 0;
  for await (const keys of queryItems({ ...inPartition(root.pk), ...keysOnly }, pace)) {
    if (items === 0 && keys.length > 0) await deleteItems([root], pace);
    await deleteItems(keys as unknown as readonly Key[], pace);
    items += keys.length;
  }
  return items;
}
