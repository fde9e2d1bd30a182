import { nodePrefix, parseGeneration } from "../../../shared/dynamodb/keys.ts";
import type { Pace } from "../../../shared/dynamodb/pace.ts";
import { keysOnly, queryItems, withPrefix } from "../../../shared/dynamodb/read-pages.ts";
import { type Item, readItem } from "../../../shared/dynamodb/table-client.ts";
import { inParallel } from "../../../shared/in-parallel.ts";
import { readSublists } from "../../../shared/pages/audit/read-list.ts";
import { countChanges, pacedMaintenance, toChange } from "../../../shared/pages/audit/repair.ts";
import type { CountedOwner } from "../../../shared/pages/tree/counted-list.ts";
import { readRows } from "../../../shared/pages/tree/rows.ts";
import { commit, readRoot, treeKey } from "../../../shared/pages/tree/tree-store.ts";
import { replaceTree } from "../table/counted-trees.ts";
import { deleteItems } from "../table/write-items.ts";

/** How long a list request may still read the old nodes of an emptied tree, in milliseconds. */
const longestRequest = 60_000;

/**
 * Empties the trees of a list and of its sublists, and counts all rows again. Several rebuilds of a list, and maintainers,
 * can work at the same time; one that is ended leaves the rest to them.
 */
export async function rebuild(list: CountedOwner, pace: Pace): Promise<void> {
  const { rows } = await pace.retry(() => readRows(list, { start: "", maxRows: 1 }));
  if (rows.length === 0 && !(await pace.retry(() => readItem(treeKey(list, "root"))))) return;
  const sublists = await readSublists(list, { pace });
  // The sublists first: once the list feeds them from its start, what they fill by themselves is little.
  await inParallel(sublists, (owner) => empty(owner, pace));
  await empty(list, pace);
  const changes = [list, ...sublists].map((owner) => toChange(owner));
  await countChanges(list, changes, pacedMaintenance(pace));
  await pace.wait(longestRequest);
  for (const owner of [list, ...sublists]) await deleteOldNodes(owner, pace);
}

/** Begins a tree again, with another generation of nodes. */
const empty = (owner: CountedOwner, pace: Pace) =>
  replaceTree(owner, pace, async (tree) => {
    const filling = owner.origin === undefined ? undefined : "";
    await commit(owner, { ...tree, filling }, [], { renews: true });
  });

/** Deletes the nodes of trees older than the one in service. */
async function deleteOldNodes(owner: CountedOwner, pace: Pace): Promise<void> {
  const root = await pace.retry(() => readRoot(owner));
  if (!root) return;
  const isOld = ({ sk }: Item) => parseGeneration(String(sk)) < root.generation;
  for await (const nodes of queryItems(
    { ...withPrefix(treeKey(owner, "").pk, nodePrefix), ...keysOnly },
    pace,
  ))
    await deleteItems(nodes.filter(isOld), pace);
}
