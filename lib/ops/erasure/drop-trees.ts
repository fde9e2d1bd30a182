import { sublistKey } from "../../../shared/dynamodb/keys.ts";
import type { Key } from "../../../shared/dynamodb/table-client.ts";
import type { SublistOwner } from "../../../shared/pages/tree/counted-list.ts";
import { treeKey } from "../../../shared/pages/tree/tree-store.ts";
import type { Pace } from "../common/pace.ts";
import { inPartition, keysOnly, queryItems } from "../common/read-items.ts";
import { deleteItems } from "../common/write-items.ts";

/** Deletes the tree of a sublist, and then its record, by which it is found. */
export async function dropSublist(owner: SublistOwner, pace: Pace): Promise<void> {
  const { account, list, sublist } = owner;
  await dropTree(owner, pace);
  await deleteItems([sublistKey(list.type, account, sublist)], pace);
}

/** Deletes a tree, its root first: from then on no list reads it, and no maintainer commits to it. */
async function dropTree(owner: SublistOwner, pace: Pace): Promise<void> {
  const root = treeKey(owner, "root");
  await deleteItems([root], pace);
  for await (const keys of queryItems({ ...inPartition(root.pk), ...keysOnly }, pace))
    await deleteItems(keys as unknown as readonly Key[], pace);
}
