import { inParallel } from "../../in-parallel.ts";
import { type CountedRow, readRows } from "../tree/rows.ts";
import { readRoot, TreeChangedError } from "../tree/tree-store.ts";
import { MaintainedTree } from "./maintained-tree.ts";
import { setRows } from "./set-rows.ts";

/**
 * Takes one step of feeding the trees of sources and channels: sets counted rows of a list in the trees of their labels. The
 * rows are read from the table consistently, because no index is trusted.
 *
 * Feeding pays when rows are in nodes of the list. Before that, the trees of small lists would cost more than they save.
 *
 * @param areLarge whether the newest rows are so large that feeding pays in any case
 */
export async function feedLabelTrees(whole: MaintainedTree, areLarge: boolean) {
  const { owner, context } = whole;
  const { limits, retry } = context;
  const root = await whole.root();
  const { fed = "", watermark, bufferStart, expiresAt } = root;
  // The labels of an erased account must get no trees.
  if (expiresAt !== undefined || fed >= (areLarge ? watermark : bufferStart)) return { more: false };
  const bounds = { start: fed, end: watermark, maxRows: limits.fedRows };
  const { rows, next } = await retry(() => readRows(owner, bounds));
  const byLabel = Map.groupBy(rows, ({ labelKey }) => labelKey);
  byLabel.delete(undefined);
  const trees = [...byLabel.keys()].map((labelKey) => new MaintainedTree({ ...owner, labelKey }, context));
  await inParallel(trees, (tree) => tree.root());
  // Without this check, label commits would succeed and set old rows if a change was counted before their roots were read.
  const now = await retry(() => readRoot(owner));
  if (now?.version !== root.version) throw new TreeChangedError("Another commit came first.");
  await inParallel(trees, (tree) => feedTree(tree, byLabel.get(tree.owner.labelKey) ?? []));
  await whole.commit({ ...root, fed: next ?? watermark });
  return { more: next !== undefined };
}

/** Sets rows in the tree of a label, in as many commits as needed. If the list is fed again, the tree has the first rows. */
async function feedTree(tree: MaintainedTree, rows: readonly CountedRow[]): Promise<void> {
  const { watermark } = await tree.root();
  for (let rest = rows.filter(({ sk }) => sk >= watermark); rest.length > 0; ) {
    const { added } = await setRows(tree, [], rest);
    rest = rest.slice(added);
  }
}
