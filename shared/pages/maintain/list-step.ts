import { keyAt, latest } from "../tree/counted-list.ts";
import type { Root } from "../tree/root.ts";
import { endOf, readRows } from "../tree/rows.ts";
import type { MaintainedTree } from "./maintained-tree.ts";
import { weigh } from "./own-tree-rule.ts";
import { setRows } from "./set-rows.ts";

/** The work on the tree of a whole list. */
export interface ListState {
  /** Whether something is left for another step. */
  readonly more: boolean;
  /** The sort keys of changed, deleted or back-dated rows that are not counted yet, in the order of the stream. */
  readonly changed: readonly string[];
  /** Whether counting pays as soon as the newest rows are old enough. */
  readonly young?: boolean;
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
  const { list } = tree.owner;
  const root = await tree.root();
  if (root.expiresAt !== undefined) return revive(tree, root, state);
  // After the root, and before the rows.
  const clock = Date.now();
  const horizon = keyAt(list, clock - tree.means.limits.allowedLateness);
  const { read, settled, pays, ...ends } = await readNewRows(tree, root, horizon);
  const inside = state.changed.filter((sk) => sk < root.watermark);
  const isTailChanged = inside.length < state.changed.length;
  if (state.changed.length === 0 && !pays) return { more: false, changed: [], ...ends };
  const { rows, left, added, ...edited } = await setRows(tree, inside, settled);
  const next = {
    ...edited.root,
    // Not the horizon: what a clock that is ahead takes for old may still be created.
    watermark: latest(root.watermark, endOf(added)),
    // Rows before the watermark that came late are not in their sublists either.
    unfed: (root.unfed ?? 0) + weigh([...rows, ...added], read, root.fed),
    changedAt: isTailChanged ? raised(root, clock) : root.changedAt,
  };
  await tree.commit(next, edited.nodes);
  const isRead = read.next === undefined || settled.length < read.rows.length;
  const more = left.length > 0 || added.length < settled.length || !isRead;
  return { more, changed: left, ...ends };
}

/** The root of an erased account's list counts no rows, and stays as it is until the list has some again. */
async function revive(tree: MaintainedTree, root: Root, state: ListState): Promise<ListState> {
  const { owner, means } = tree;
  const { rows } = await means.retry(() => readRows(owner, { start: "", maxRows: 1 }));
  if (rows.length === 0) return { more: false, changed: [] };
  await tree.commit({ ...root, expiresAt: undefined });
  return state;
}

/** Reads the first rows of the tail. @returns them, those that are old enough, and whether it pays to count these */
async function readNewRows({ owner, means }: MaintainedTree, { watermark }: Root, horizon: string) {
  const { limits, retry } = means;
  const read = await retry(() => readRows(owner, { start: watermark, maxRows: limits.rowsAtOnce }));
  const { rows, units, next } = read;
  const settled = rows.filter(({ sk }) => sk < horizon);
  const isLong = rows.length > limits.tail || units > limits.tailUnits;
  return {
    ...{ read, settled, pays: isLong && settled.length > 0 },
    ...{ young: isLong && settled.length < rows.length, newest: next ?? rows.at(-1)?.sk },
  };
}

/** The time of a change of the tail: it increases strictly. */
const raised = ({ changedAt = 0 }: Root, clock: number) => Math.max(clock, changedAt + 1);
