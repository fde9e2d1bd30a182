import { type CountedOwner, earliest, keyAt, latest } from "../tree/counted-list.ts";
import type { Root } from "../tree/root.ts";
import { type CountedRow, type Rows, readRows } from "../tree/rows.ts";
import { commit } from "../tree/tree-store.ts";
import { setChangedRows } from "./set-rows.ts";
import { type Means, rootOf, type TreeState } from "./tree-steps.ts";

/** The work on the tree of a whole list. */
export interface ListState extends TreeState {
  /** The sort keys of changed, deleted or back-dated rows that are not counted yet, in the order of the stream. */
  readonly changed: readonly string[];
  /** Whether counting pays as soon as the newest rows are old enough. */
  readonly young: boolean;
  /** The sort key of the newest row that was read; undefined without any. */
  readonly newest: string | undefined;
}

/** The state before the first step. */
export const newListState = (changed: readonly string[]): ListState => ({
  ...{ root: undefined, more: true, changed, young: false, newest: undefined },
});

/**
 * One step of the tree of a whole list, with one commit at most: sets changed rows as they are in the table, and counts
 * the rows of the tail that are old enough. So changes may come twice, late and in any order.
 *
 * It commits for a changed row even if no count differs: so the commit of a slower maintainer, which read the row before
 * its change, fails. Nobody has read a row that is younger than the allowed lateness, within the skew of the clocks: so
 * without a commit it does not matter whether the root of the state is up to date.
 *
 * @throws TreeChangedError when another commit came first
 * @throws DamagedTreeError when a node is not what the root says
 */
export async function stepList(owner: CountedOwner, state: ListState, means: Means): Promise<ListState> {
  const root = await rootOf(owner, state, means);
  if (root.expiresAt !== undefined) return revive(owner, root, state, means);
  // Not earlier: the watermark of another commit would seem to lie in the future.
  const clock = Date.now();
  const { allowedLateness, skew } = means.limits;
  const furthest = keyAt(owner.list, clock - allowedLateness + skew);
  if (root.watermark > furthest && root.watermark > root.lastStart)
    return setBack(owner, root, state, clock, means);
  const horizon = keyAt(owner.list, clock - allowedLateness);
  const tail = await readNewRows(owner, root, horizon, means);
  const { settled, young, newest } = tail;
  const inside = state.changed.filter((sk) => sk < root.watermark);
  const mayBeKnown = state.changed.some((sk) => sk >= root.watermark && sk < furthest);
  if (inside.length === 0 && !mayBeKnown && !tail.pays)
    return { root, more: false, changed: [], young, newest };
  const edited = await setChangedRows(owner, root, inside, settled, means);
  const { rows, left, added } = edited;
  const next = {
    ...edited.root,
    watermark: latest(root.watermark, settled[added.length]?.sk ?? earliest(tail.next ?? horizon, horizon)),
    // Rows before the watermark that came late are not in their sublists either.
    unfed: (root.unfed ?? 0) + weigh([...rows, ...added], tail, root.fed),
    changedAt: mayBeKnown ? raised(root, clock) : root.changedAt,
  };
  const committed = await means.retry(() => commit(owner, next, edited.nodes));
  const isRead = tail.next === undefined || settled.length < tail.rows.length;
  const more = left.length > 0 || added.length < settled.length || !isRead;
  return { root: committed, more, changed: left, young, newest };
}

/** The root of an erased account's list counts no rows, and stays as it is until the list has some again. */
async function revive(
  owner: CountedOwner,
  root: Root,
  state: ListState,
  { retry }: Means,
): Promise<ListState> {
  const { rows } = await retry(() => readRows(owner, { start: "", maxRows: 1 }));
  if (rows.length === 0) return { ...state, root, more: false, changed: [] };
  return { ...state, root: await retry(() => commit(owner, { ...root, expiresAt: undefined })) };
}

/**
 * Sets back a watermark from a clock that was far ahead. Readers may remember rows that were changed while they were not in
 * the tail.
 */
async function setBack(
  owner: CountedOwner,
  root: Root,
  state: ListState,
  clock: number,
  { retry }: Means,
): Promise<ListState> {
  const back = { watermark: root.lastStart, last: [], changedAt: raised(root, clock) };
  await retry(() => commit(owner, { ...root, ...back }));
  // The clock far ahead may still be at work: no step goes on without a look.
  return { ...state, root: undefined };
}

/** The rows of the tail that were read at once. */
interface NewRows extends Rows {
  /** Those that are old enough to be counted. */
  readonly settled: readonly CountedRow[];
  /** Whether a commit for these pays. */
  readonly pays: boolean;
  readonly young: boolean;
  readonly newest: string | undefined;
}

async function readNewRows(
  owner: CountedOwner,
  { watermark }: Root,
  horizon: string,
  { limits, retry }: Means,
): Promise<NewRows> {
  const read = await retry(() => readRows(owner, { start: watermark, maxRows: limits.rowsAtOnce }));
  const { rows, units, next } = read;
  const settled = rows.filter(({ sk }) => sk < horizon);
  const isLong = rows.length > limits.tail || units > limits.tailUnits;
  return {
    ...{ ...read, settled, newest: next ?? rows.at(-1)?.sk },
    pays: isLong && settled.length > 0,
    young: isLong && settled.length < rows.length,
  };
}

/** The time of a change of the tail: it increases strictly. */
const raised = ({ changedAt = 0 }: Root, clock: number) => Math.max(clock, changedAt + 1);

/** The number of rows that the sublists do not have yet, each of them once for every KB, as lists read them. */
export function weigh(rows: readonly CountedRow[], { rows: read, units }: Rows, fed = ""): number {
  // A read unit is 4 KB.
  const weight = Math.max(1, (4 * units) / Math.max(1, read.length));
  return Math.ceil(weight * rows.filter(({ sk }) => sk >= fed).length);
}
