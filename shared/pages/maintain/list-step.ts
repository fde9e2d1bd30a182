import { keyAt, latest } from "../tree/counted-list.ts";
import type { Root } from "../tree/root.ts";
import { endOf, readRows } from "../tree/rows.ts";
import type { Limits } from "../tree/tree-limits.ts";
import type { MaintainedTree } from "./maintained-tree.ts";
import { setRows } from "./set-rows.ts";

/** The most rows of a tail, and the most read units that they cost. */
export interface TailSize {
  readonly rows: number;
  readonly units: number;
}

/** Whether the rows of a tail are so large that a list should not read them. */
export const isLarge = ({ units }: TailSize, { tailUnits }: Limits) => units > tailUnits;

/** Whether a tail has so many rows, or such large ones, that counting them pays. */
export const isLong = (tail: TailSize, limits: Limits) => tail.rows > limits.tail || isLarge(tail, limits);

/** The work on the tree of a whole list. */
export interface ListState {
  /** Whether something is left for another step. */
  readonly more: boolean;
  /** The sort keys of changed, deleted or back-dated rows that are not counted yet, in the order of the stream. */
  readonly changed: readonly string[];
  /** Whether counting pays as soon as the newest rows are old enough. */
  readonly young?: boolean;
  /** The tail as it was read. */
  readonly tail?: TailSize;
  /** The sort key of the newest row that was read; undefined without any. */
  readonly newest?: string | undefined;
}

/**
 * One step of the tree of a whole list, with one commit at most: sets changed rows as they are in the table, and counts
 * the rows of the tail that are old enough. So changes may come twice, late and in any order.
 *
 * It commits for a changed row even if no count differs: so the commit of a slower maintainer, which read the row before
 * its change, fails.
 *
 * @throws TreeChangedError when another commit came first
 * @throws DamagedTreeError when a node is not what the root says
 */
export async function stepList(tree: MaintainedTree, state: ListState): Promise<ListState> {
  const { owner, context } = tree;
  const { limits, retry } = context;
  const root = await tree.root();
  if (root.expiresAt !== undefined) return revive(tree, root, state);
  // After the root, and before the rows.
  const horizon = keyAt(owner.list, Date.now() - limits.allowedLateness);
  const bounds = { start: root.watermark, maxRows: limits.rowsAtOnce };
  const { rows, units, next } = await retry(() => readRows(owner, bounds));
  const settled = rows.filter(({ sk }) => sk < horizon);
  const tail = { rows: rows.length, units };
  const pays = isLong(tail, limits);
  const found = { tail, young: pays && settled.length < rows.length, newest: next ?? rows.at(-1)?.sk };
  if (state.changed.length === 0 && !(pays && settled.length > 0))
    return { more: false, changed: [], ...found };
  const inside = state.changed.filter((sk) => sk < root.watermark);
  const { left, added, ...edited } = await setRows(tree, inside, settled);
  // Not the horizon: what a clock that is ahead takes for old may still be created.
  const watermark = latest(root.watermark, endOf(added));
  await tree.commit({ ...edited.root, watermark }, edited.nodes);
  const isReadToHorizon = next === undefined || settled.length < rows.length;
  const more = left.length > 0 || added.length < settled.length || !isReadToHorizon;
  return { more, changed: left, ...found };
}

/** The root of an erased account's list counts no rows, and stays as it is until the list has some again. */
async function revive(tree: MaintainedTree, root: Root, state: ListState): Promise<ListState> {
  const { owner, context } = tree;
  const { rows } = await context.retry(() => readRows(owner, { start: "", maxRows: 1 }));
  if (rows.length === 0) return { more: false, changed: [] };
  await tree.commit({ ...root, expiresAt: undefined });
  return state;
}
