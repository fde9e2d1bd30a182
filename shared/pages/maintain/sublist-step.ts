import { latest, type SublistOwner } from "../tree/counted-list.ts";
import { isOf, readRows } from "../tree/rows.ts";
import { commit, readRoot } from "../tree/tree-store.ts";
import { setChangedRows, setRows } from "./set-rows.ts";
import { isSame } from "./tree-edit.ts";
import { type Means, rootOf, type TreeState } from "./tree-steps.ts";

/** The work on the tree of a sublist. */
export interface SublistState extends TreeState {
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
  owner: SublistOwner,
  state: SublistState,
  fed: string,
  means: Means,
): Promise<SublistState> {
  const root = await rootOf(owner, state, means);
  // A tree that is filled has no row past its watermark yet.
  const end = root.filling === undefined ? latest(root.watermark, fed) : root.watermark;
  const inside = state.sks.filter((sk) => sk < end);
  const edited = await setChangedRows(owner, root, inside, [], means);
  const { left, newest } = edited;
  const watermark = newest === undefined ? root.watermark : latest(root.watermark, `${newest}!`);
  const next = { ...edited.root, watermark };
  const isCommitted = state.isChanged || !isSame(root, edited);
  const committed = isCommitted ? await means.retry(() => commit(owner, next, edited.nodes)) : root;
  return { ...state, root: committed, more: left.length > 0, sks: left };
}

/**
 * One step of counting the rows of an emptied tree again, from the whole list: the index could be late. Nothing is left if
 * the tree is not filled.
 *
 * @throws TreeChangedError when another commit came first
 */
export async function stepFilling(owner: SublistOwner, state: TreeState, means: Means): Promise<TreeState> {
  const { limits, retry } = means;
  const { account, list } = owner;
  const root = await rootOf(owner, state, means);
  if (root.filling === undefined) return { root, more: false };
  // Not earlier: a feed that raises it commits to the sublist before.
  const whole = await retry(() => readRoot({ account, list }));
  const end = latest(root.filling, whole?.fed ?? "");
  const bounds = { start: root.watermark, end, maxRows: limits.fedRows };
  const { rows: all, next } = await retry(() => readRows(owner, bounds));
  const rows = all.filter(isOf(owner));
  const edited = await setRows(owner, root, rows, means);
  const stop = rows[edited.used]?.sk ?? next;
  const watermark = latest(root.watermark, stop ?? end);
  const filling = stop === undefined ? undefined : root.filling;
  const filled = { ...edited.root, watermark, filling };
  return { root: await retry(() => commit(owner, filled, edited.nodes)), more: stop !== undefined };
}
