import { latest, type SublistOwner } from "../tree/counted-list.ts";
import { type CountedRow, type Rows, readRows } from "../tree/rows.ts";
import type { Limits } from "../tree/tree-limits.ts";
import { DamagedTreeError, readRoot, TreeChangedError } from "../tree/tree-store.ts";
import { emptyTree } from "./empty-tree.ts";
import { inParallel } from "./in-parallel.ts";
import { weigh } from "./list-step.ts";
import { MaintainedTree } from "./maintained-tree.ts";
import { setRows } from "./set-rows.ts";
import { isSame } from "./tree-edit.ts";

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
  const { fed = "", unfed = 0, lookAt = limits.sublistRows } = root;
  if (unfed < lookAt || fed >= root.watermark) return { more: false, filling: [] };
  const bounds = { start: fed, end: root.watermark, maxRows: limits.fedRows };
  const read = await retry(() => readRows(owner, bounds));
  const { rows, next } = read;
  const byOrigin = Map.groupBy(rows, ({ origin }) => origin);
  if (!pays(read, [...byOrigin], limits)) {
    const due = Math.max(limits.fedRows, unfed + limits.sublistRows);
    await whole.commit({ ...root, lookAt: Math.min(2 * unfed, due) });
    return { more: false, filling: [] };
  }
  const trees = [...byOrigin.keys()].flatMap((origin) =>
    origin === undefined ? [] : new MaintainedTree({ ...owner, origin }, means),
  );
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

/** Whether a sublist has so many of the rows that a tree of its own pays, or all of them are so many. */
function pays(
  read: Rows,
  byOrigin: readonly (readonly [string | undefined, readonly CountedRow[]])[],
  { fedRows, sublistRows }: Limits,
): boolean {
  if (read.next !== undefined || weigh(read.rows, read) >= fedRows) return true;
  return byOrigin.some(([origin, rows]) => origin !== undefined && weigh(rows, read) >= sublistRows);
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
    for (let rest = rows; rest.length > 0; ) {
      const root = await tree.root();
      const edited = await setRows(tree, [], rest);
      rest = rest.slice(edited.used);
      const watermark = latest(root.watermark, rest[0]?.sk ?? end);
      if (!isSame(root, edited)) await tree.commit({ ...edited.root, watermark }, edited.nodes);
    }
    return true;
  } catch (error) {
    if (!(error instanceof DamagedTreeError)) throw error;
    await emptyTree(error, tree.means);
    tree.forget();
    return false;
  }
}
