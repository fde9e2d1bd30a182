import { inParallel } from "../../in-parallel.ts";
import { latest, type SublistOwner } from "../tree/counted-list.ts";
import { type CountedRow, readRows } from "../tree/rows.ts";
import { DamagedTreeError, readRoot, TreeChangedError } from "../tree/tree-store.ts";
import { emptyTree } from "./empty-tree.ts";
import { MaintainedTree } from "./maintained-tree.ts";
import { isLookDue, nextLook, payOwnTrees, weigh } from "./own-tree-rule.ts";
import { setAllRows } from "./sublist-step.ts";

/** What a feed leaves. */
interface FeedState {
  readonly more: boolean;
  /** The trees of sublists that have to be filled. */
  readonly filling: readonly MaintainedTree<SublistOwner>[];
}

/**
 * One step of giving sources and channels trees of their own: sets the counted rows of a list in the trees of their
 * sublists, when that pays. They are read from the table, consistently: no index is trusted.
 *
 * @throws TreeChangedError when another commit came first
 */
export async function feedSourceTrees(whole: MaintainedTree): Promise<FeedState> {
  const { owner, means } = whole;
  const { limits, retry } = means;
  const root = await whole.root();
  if (!isLookDue(root, limits)) return { more: false, filling: [] };
  const { fed = "", unfed = 0 } = root;
  const bounds = { start: fed, end: root.watermark, maxRows: limits.fedRows };
  const read = await retry(() => readRows(owner, bounds));
  const { rows, next } = read;
  const byOrigin = Map.groupBy(rows, ({ origin }) => origin);
  byOrigin.delete(undefined);
  if (!payOwnTrees(read, [...byOrigin.values()], limits)) {
    await whole.commit({ ...root, lookAt: nextLook(root, limits) });
    return { more: false, filling: [] };
  }
  const trees = Array.from(byOrigin.keys(), (origin = "") => new MaintainedTree({ ...owner, origin }, means));
  await inParallel(trees, (tree) => tree.root());
  // The change of a row that was counted since would find the roots as they were read, and the row in no tree.
  const now = await retry(() => readRoot(owner));
  if (now?.version !== root.version) throw new TreeChangedError("Another commit came first.");
  const end = next ?? root.watermark;
  const filling: MaintainedTree<SublistOwner>[] = [];
  await inParallel(trees, async (tree) => {
    const isComplete = await feedTree(tree, byOrigin.get(tree.owner.origin) ?? [], end);
    if (!isComplete) filling.push(tree);
  });
  const left = next === undefined ? 0 : Math.max(limits.sublistRows, unfed - weigh(rows, read));
  await whole.commit({ ...root, fed: end, unfed: left, lookAt: undefined });
  return { more: next !== undefined, filling };
}

/** Sets rows in the tree of a sublist, which then has all rows before the end. @returns false if the tree has to be filled */
async function feedTree(
  tree: MaintainedTree<SublistOwner>,
  rows: readonly CountedRow[],
  end: string,
): Promise<boolean> {
  const { filling } = await tree.root();
  if (filling !== undefined) {
    await tree.commit({ ...(await tree.root()), filling: latest(filling, end) });
    return false;
  }
  try {
    await setAllRows(tree, rows, end);
    return true;
  } catch (error) {
    if (!(error instanceof DamagedTreeError)) throw error;
    await emptyTree(error, tree.means);
    tree.forget();
    return false;
  }
}
