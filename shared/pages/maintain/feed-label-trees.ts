import { inParallel } from "../../in-parallel.ts";
import { type LabelOwner, latest } from "../tree/counted-list.ts";
import { type CountedRow, readRows } from "../tree/rows.ts";
import { readRoot, TreeChangedError } from "../tree/tree-store.ts";
import { MaintainedTree } from "./maintained-tree.ts";
import { setRows } from "./set-rows.ts";

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
export async function feedLabelTrees(
  whole: MaintainedTree,
  areLarge: boolean,
): Promise<{ readonly more: boolean }> {
  const { owner, context } = whole;
  const { limits, retry } = context;
  const root = await whole.root();
  const { fed = "", watermark, lastStart } = root;
  if (fed >= (areLarge ? watermark : lastStart)) return { more: false };
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
  const end = next ?? watermark;
  await inParallel(trees, (tree) => feedTree(tree, byLabel.get(tree.owner.labelKey) ?? [], end));
  await whole.commit({ ...root, fed: end });
  return { more: next !== undefined };
}

/**
 * Sets rows in the tree of a label, which then has all rows before the end: in as many commits as they need. The tree has
 * those before its watermark already, if the list is fed again.
 */
async function feedTree(
  tree: MaintainedTree<LabelOwner>,
  rows: readonly CountedRow[],
  end: string,
): Promise<void> {
  const { watermark } = await tree.root();
  let rest = rows.filter(({ sk }) => sk >= watermark);
  while (rest.length > 0) {
    const { root, nodes, used } = await setRows(tree, [], rest);
    rest = rest.slice(used);
    await tree.commit({ ...root, watermark: latest(root.watermark, rest[0]?.sk ?? end) }, nodes);
  }
}
