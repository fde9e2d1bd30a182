import { indexes, leadConversationsPartition, rowKey, sublistKey } from "../../../shared/dynamodb/keys.ts";
import { type Key, readItem } from "../../../shared/dynamodb/table-client.ts";
import { countedLists, type SublistOwner } from "../../../shared/pages/tree/counted-list.ts";
import { treeKey } from "../../../shared/pages/tree/tree-store.ts";
import type { Pace } from "../common/pace.ts";
import { inPartition, keysOnly, queryItems } from "../common/read-items.ts";
import { deleteItems } from "../common/write-items.ts";
import { readSublists } from "../counts/tree-items.ts";

/**
 * Deletes the trees of erased leads, and those of email addresses without leads: their records contain the id or the
 * address. Other trees name nobody.
 */
export async function dropTrees(account: string, leadIds: readonly string[], pace: Pace): Promise<void> {
  for (const id of leadIds) {
    const partition = leadConversationsPartition(account, id);
    await dropSublist(
      { account, list: countedLists.conversation, sublist: { index: "by-parent", partition } },
      pace,
    );
  }
  for (const owner of await readSublists({ account, list: countedLists.lead }, pace))
    if (owner.sublist.index === "by-parent" && !(await hasRows(owner, pace))) await dropSublist(owner, pace);
}

/** Whether the table has a row of those that the index lists: it may still list some that were just deleted. */
async function hasRows({ account, list, sublist }: SublistOwner, pace: Pace): Promise<boolean> {
  const selection = {
    IndexName: sublist.index,
    KeyConditionExpression: "#partition = :partition",
    ExpressionAttributeNames: { "#partition": indexes[sublist.index] },
    ExpressionAttributeValues: { ":partition": sublist.partition },
    ProjectionExpression: "sk",
  };
  for await (const rows of queryItems(selection, pace))
    for (const { sk } of rows)
      if (await pace.retry(() => readItem(rowKey(list.type, account, String(sk))))) return true;
  return false;
}

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
