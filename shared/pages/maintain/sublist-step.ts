import { inParallel } from "../../in-parallel.ts";
import { earliest, latest, type SublistOwner } from "../tree/counted-list.ts";
import { type CountedRow, readRows } from "../tree/rows.ts";
import { readRoot } from "../tree/tree-store.ts";
import type { MaintainedTree } from "./maintained-tree.ts";
import { setRows } from "./set-rows.ts";
import { isSame } from "./tree-edit.ts";

/** The work on the tree of a sublist. */
export interface SublistState {
  /** Whether something is left for another step. */
  readonly more: boolean;
  /** The sort keys of rows that are or were in the sublist and are not counted yet, in the order of the stream. */
  readonly sks: readonly string[];
  /** Whether some were changed, deleted or back-dated: the others, which routes created, should be in the tree already. */
  readonly isChanged: boolean;
}

/**
 * One step of the tree of a sublist, with one commit at most: sets the rows that the tree must have, as they are in the
 * table. A change raises the version in any case, so that a feed fails that read the row before.
 *
 * @param fed that of the list, read after the commit of the list for these rows
 * @throws TreeChangedError when another commit came first
 * @throws DamagedTreeError when a node is not what the root says, or the root is missing
 */
export async function stepSublist(
  tree: MaintainedTree<SublistOwner>,
  state: SublistState,
  fed: string,
): Promise<SublistState> {
  const root = await tree.root();
  // A tree that is filled has no row past its watermark yet.
  const end = root.filling === undefined ? latest(root.watermark, fed) : root.watermark;
  const inside = state.sks.filter((sk) => sk < end);
  const { left, newest, ...edited } = await setRows(tree, inside, []);
  const watermark = newest === undefined ? root.watermark : latest(root.watermark, `${newest}!`);
  if (state.isChanged || !isSame(root, edited))
    await tree.commit({ ...edited.root, watermark }, edited.nodes);
  return { ...state, more: left.length > 0, sks: left };
}

/**
 * Sets rows in the tree of a sublist, which then has all rows before the end: in as many commits as they need.
 *
 * @param isFilled whether a tree that was emptied is filled by them
 * @throws TreeChangedError when another commit came first
 * @throws DamagedTreeError when a node is not what the root says, or the root is missing
 */
export async function setAllRows(
  tree: MaintainedTree<SublistOwner>,
  rows: readonly CountedRow[],
  end: string,
  isFilled = false,
): Promise<void> {
  let rest = rows;
  do {
    const root = await tree.root();
    const edited = await setRows(tree, [], rest);
    rest = rest.slice(edited.used);
    const watermark = latest(root.watermark, rest[0]?.sk ?? end);
    const filling = isFilled && rest.length === 0 ? undefined : root.filling;
    if (root.filling !== undefined || !isSame(root, edited))
      await tree.commit({ ...edited.root, watermark, filling }, edited.nodes);
  } while (rest.length > 0);
}

/**
 * One step of counting the rows of emptied trees of a list again, all from one reading of the list: the index could be late.
 * Nothing is left if no tree is to be filled.
 *
 * @throws TreeChangedError when another commit came first
 */
export async function stepFilling(
  { owner, means }: MaintainedTree,
  trees: readonly MaintainedTree<SublistOwner>[],
): Promise<{ readonly more: boolean }> {
  try {
    const emptied: { tree: MaintainedTree<SublistOwner>; watermark: string; filling: string }[] = [];
    await inParallel(trees, async (tree) => {
      const { watermark, filling } = await tree.root();
      if (filling !== undefined) emptied.push({ tree, watermark, filling });
    });
    if (emptied.length === 0) return { more: false };
    // Not earlier: a feed that raises it commits to the sublists before.
    const { fed = "" } = (await means.retry(() => readRoot(owner))) ?? {};
    const start = emptied.map(({ watermark }) => watermark).reduce(earliest);
    const end = emptied.map(({ filling }) => filling).reduce(latest, fed);
    const read = await means.retry(() => readRows(owner, { start, end, maxRows: means.limits.fedRows }));
    const byOrigin = Map.groupBy(read.rows, ({ origin }) => origin);
    await inParallel(emptied, async ({ tree, watermark }) => {
      const rows = (byOrigin.get(tree.owner.origin) ?? []).filter(({ sk }) => sk >= watermark);
      await setAllRows(tree, rows, read.next ?? end, read.next === undefined);
    });
    return { more: read.next !== undefined };
  } catch (error) {
    for (const tree of trees) tree.forget();
    throw error;
  }
}
