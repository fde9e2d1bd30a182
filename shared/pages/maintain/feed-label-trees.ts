import { inParallel } from "../../in-parallel.ts";
import { type CountedRow, readRows } from "../tree/rows.ts";
import { readRoot, TreeChangedError } from "../tree/tree-store.ts";
import { MaintainedTree } from "./maintained-tree.ts";
import { setRows } from "./set-or-remove-rows.ts";

/**
 * One step of feeding the trees of sources and channels: sets counted rows of a list in the trees of their labels. They
 * are read from the table, consistently: no index is trusted.
 *
 * It pays when rows are in nodes of the list. Before, the trees of small lists would cost more than they save.
 *
 * @param areLarge whether the newest rows are so large that it pays in any case
 * @throws TreeChangedError when another commit came first
 * @throws DamagedTreeError when a tree of a label is damaged
 */
export async function feedLabelTrees(whole: MaintainedTree, areLarge: boolean) {
  const { owner, context } = whole;
  const { limits, retry } = context;
  const root = await whole.root();
  const { fed = "", watermark, bufferStart, expiresAt } = root;
  // The trees of an erased account stay away.
  if (expiresAt !== undefined || fed >= (areLarge ? watermark : bufferStart)) return { more: false };
  const bounds = { start: fed, end: watermark, maxRows: limits.fedRows };
  const { rows, next } = await retry(() => readRows(owner, bounds));
  const byLabel = Map.groupBy(rows, ({ labelKey }) => labelKey);
  byLabel.delete(undefined);
  const trees = Array.from(
    byLabel.keys(),
    (labelKey = "") => new MaintainedTree({ ...owner, labelKey }, context),
  );
  await inParallel(trees, (tree) => tree.root());
  // The change of a row that was counted since would find the roots as they were read, and the row in no tree.
  const now = await retry(() => readRoot(owner));
  if (now?.version !== root.version) throw new TreeChangedError("Another commit came first.");
  await inParallel(trees, (tree) => feedTree(tree, byLabel.get(tree.owner.labelKey) ?? []));
  await whole.commit({ ...root, fed: next ?? watermark });
  return { more: next !== undefined };
}

/** Sets rows in the tree of a label, in as many commits as they need. If the list is fed again, it has the first ones. */
async function feedTree(tree: MaintainedTree, rows: readonly CountedRow[]): Promise<void> {
  const { watermark } = await tree.root();
  for (let rest = rows.filter(({ sk }) => sk >= watermark); rest.length > 0; ) {
    const { added } = await setRows(tree, [], rest);
    rest = rest.slice(added);
  }
}
