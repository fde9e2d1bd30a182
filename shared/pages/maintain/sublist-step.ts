import { latest, type SublistOwner } from "../tree/counted-list.ts";
import { isOf, readRows } from "../tree/rows.ts";
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
 * One step of counting the rows of an emptied tree again, from the whole list: the index could be late. Nothing is left if
 * the tree is not filled.
 *
 * @throws TreeChangedError when another commit came first
 */
export async function stepFilling(tree: MaintainedTree<SublistOwner>): Promise<{ readonly more: boolean }> {
  const { owner, means } = tree;
  const { account, list } = owner;
  const root = await tree.root();
  if (root.filling === undefined) return { more: false };
  // Not earlier: a feed that raises it commits to the sublist before.
  const whole = await means.retry(() => readRoot({ account, list }));
  const end = latest(root.filling, whole?.fed ?? "");
  const bounds = { start: root.watermark, end, maxRows: means.limits.fedRows };
  const read = await means.retry(() => readRows(owner, bounds));
  const rows = read.rows.filter(isOf(owner));
  const edited = await setRows(tree, [], rows);
  const stop = rows[edited.used]?.sk ?? read.next;
  const watermark = latest(root.watermark, stop ?? end);
  const filling = stop === undefined ? undefined : root.filling;
  await tree.commit({ ...edited.root, watermark, filling }, edited.nodes);
  return { more: stop !== undefined };
}
