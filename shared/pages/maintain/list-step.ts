import { keyAt } from "../tree/counted-list.ts";
import { readRows } from "../tree/rows.ts";
import type { MaintainedTree } from "./maintained-tree.ts";
import { setRows } from "./set-rows.ts";

/** The work on the tree of a whole list. */
export interface ListState {
  /** Whether something is left for another step. */
  readonly more: boolean;
  /** The sort keys of changed, deleted or back-dated rows that are not counted yet, in the order of the stream. */
  readonly changed: readonly string[];
  /** Whether counting pays as soon as the newest rows are old enough. */
  readonly waitsForAge?: boolean;
  /** Whether the rows of the tail are so large that a list should not read them. */
  readonly areLarge?: boolean;
  /** The sort key of the newest row that was read; undefined without any. */
  readonly newest?: string | undefined;
}

/**
 * Takes one step for the tree of a whole list, with at most one commit: sets changed rows as they are in the table, and
 * counts the rows of the tail that are old enough. So changes may arrive twice, late and in any order.
 *
 * @throws TreeChangedError when another commit came first
 * @throws DamagedTreeError when a node does not match the entry above it
 */
export async function stepList(tree: MaintainedTree, { changed }: ListState): Promise<ListState> {
  const { owner, context } = tree;
  const { limits, retry } = context;
  const { watermark } = await tree.root();
  // The clock is read after the root, and before the rows.
  const horizon = keyAt(owner.list, Date.now() - limits.allowedLateness);
  const bounds = { start: watermark, maxRows: limits.rowsAtOnce };
  const { rows, units, next } = await retry(() => readRows(owner, bounds));
  const settled = rows.filter(({ sk }) => sk < horizon);
  const areLarge = units > limits.tailUnits;
  const pays = areLarge || rows.length > limits.tail;
  const waitsForAge = pays && settled.length < rows.length;
  const found = { areLarge, waitsForAge, newest: next ?? rows.at(-1)?.sk };
  if (changed.length === 0 && !(pays && settled.length > 0)) return { more: false, changed, ...found };
  const inside = changed.filter((sk) => sk < watermark);
  // The watermark does not move to the horizon: if this clock is ahead, rows before the horizon may still be created.
  const { left, added } = await setRows(tree, inside, settled);
  const isReadToHorizon = next === undefined || settled.length < rows.length;
  const more = left.length > 0 || added < settled.length || !isReadToHorizon;
  return { more, changed: left, ...found };
}
