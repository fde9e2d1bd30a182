import { accountPartition, labelTreePartition } from "../../../shared/dynamodb/keys.ts";
import type { Pace } from "../../../shared/dynamodb/pace.ts";
import { inPartition, keysOnly, queryAll, queryItems } from "../../../shared/dynamodb/read-pages.ts";
import { withRetry } from "../../../shared/dynamodb/retry.ts";
import type { Item, Key } from "../../../shared/dynamodb/table-client.ts";
import { emptyTree } from "../../../shared/pages/maintain/maintained-tree.ts";
import { type CountedOwner, keyAt } from "../../../shared/pages/tree/counted-list.ts";
import { emptied, emptyRoot } from "../../../shared/pages/tree/root.ts";
import { limits } from "../../../shared/pages/tree/tree-limits.ts";
import {
  commit,
  DamagedTreeError,
  isTreeChanged,
  labelTreeRecords,
  readRoot,
  treeKey,
} from "../../../shared/pages/tree/tree-store.ts";
import { UserError } from "../../user-error.ts";
import { countedOwners } from "../table/read-items.ts";
import { tableTime } from "../table/table-clock.ts";
import { deleteItems } from "../table/write-items.ts";
import { waitForWriters } from "./wait-for-writers.ts";

/** How long the empty roots stay, in seconds: longer than the stream keeps a deletion that is not counted yet. */
const retention = 48 * 3600;

/**
 * Deletes the trees of an erased account. First, each list gets an empty root that expires: maintainers make no label trees
 * for such a list.
 *
 * @param nodes the tree nodes that a scan of the table has found
 * @throws UserError when a list of the account has rows again
 */
export async function dropTrees(account: string, nodes: readonly Item[], pace: Pace): Promise<void> {
  const lists = countedOwners(account);
  for (const owner of lists) await leaveEmptyRoot(owner, pace);
  // A maintainer that has read a former root can still write to label trees.
  if (nodes.length > 0) await waitForWriters("The lists are empty", pace);
  const whole = new Set(lists.map((owner) => treeKey(owner, "").pk));
  for (const pk of new Set(nodes.map((node) => String(node.pk))))
    if (!whole.has(pk)) await dropTree(pk, pace);
  for (const owner of lists) {
    while (await dropLabelTrees(owner, pace));
    await deletePartition(treeKey(owner, "").pk, pace, ({ sk }) => sk !== "root");
  }
}

/**
 * Deletes the label trees of a list. Each tree is deleted before its record, because the record is needed to find the tree.
 *
 * @returns whether there was one
 */
async function dropLabelTrees(list: CountedOwner, pace: Pace): Promise<boolean> {
  const records = await queryAll({ ...labelTreeRecords(list), ...keysOnly }, pace);
  for (const record of records as unknown as readonly Key[]) {
    await dropTree(labelTreePartition(record), pace);
    await deleteItems([record], pace);
  }
  return records.length > 0;
}

/**
 * Deletes a tree, its root first: from then on, no list reads the tree. A late commit can still write nodes, but only in a
 * generation that no other tree uses.
 */
async function dropTree(pk: string, pace: Pace): Promise<void> {
  await deleteItems([{ pk, sk: "root" }], pace);
  await deletePartition(pk, pace);
}

async function deletePartition(pk: string, pace: Pace, filter = (_: Item) => true): Promise<void> {
  for await (const keys of queryItems({ ...inPartition(pk), ...keysOnly }, pace))
    await deleteItems(keys.filter(filter), pace);
}

/**
 * Replaces the tree of a list without rows with an empty tree that expires, and retries while other commits come first.
 * A deletion that is counted later finds this tree, and so makes no other tree.
 *
 * @throws UserError when the list has rows again
 */
function leaveEmptyRoot(owner: CountedOwner, pace: Pace): Promise<void> {
  const { account, list } = owner;
  const step = async () => {
    const root = await readRoot(owner).catch(async (error: unknown) => {
      if (!(error instanceof DamagedTreeError)) throw error;
      await emptyTree(error, pace);
      return readRoot(owner);
    });
    // As for every commit, the time is read after the root and before the rows.
    const clock = tableTime();
    const rows = { ...inPartition(accountPartition(list.type, account)), ...keysOnly, Limit: 1 };
    const { value: first } = await queryItems(rows, pace).next();
    if (first.length > 0)
      throw new UserError(
        `The account ${account} was written to during its erasure. End imports and copies, then run the command again with the stage's authorizerCacheSeconds as --cache-seconds.`,
      );
    await commit(owner, {
      ...(root ? emptied(root, clock) : emptyRoot(clock)),
      fed: undefined,
      // No row is before this key: the list is empty, and no route writes an older row.
      watermark: keyAt(list, clock - limits.allowedLateness),
      expiresAt: Math.ceil(clock / 1000) + retention,
    });
  };
  const deadline = Number.POSITIVE_INFINITY;
  return withRetry(() => pace.retry(step), { deadline, isRetryable: isTreeChanged, wait: pace.wait });
}
