import { type CountedOwner, earliest, keyAt, latest } from "../tree/counted-list.ts";
import { separator } from "../tree/entry.ts";
import type { Root } from "../tree/root.ts";
import { type RowReading, type Rows, readRows } from "../tree/rows.ts";
import type { Limits } from "../tree/tree-limits.ts";
import type { RootName } from "../tree/tree-store.ts";
import { fillLeaves } from "./recount.ts";
import { recountLeaves } from "./recount-leaves.ts";
import { TreeEdit } from "./tree-edit.ts";

/** What remains to do after a commit. */
interface Progress {
  /** The keys whose leaves have not been recounted. */
  readonly rest: readonly string[];
  /** Whether rows that are old enough have not been counted. */
  readonly more: boolean;
  /** The number of rows that were too young to be counted. */
  readonly young: number;
  /** The number of rows of the tail that were counted. */
  readonly counted: number;
  /** The keys that others may have counted, but that are too young for this clock to move the watermark past them. */
  readonly uncertain: readonly string[];
  /** A sort key up to which the tail has rows, the newest one if all of the tail was read; undefined without rows. */
  readonly newest: string | undefined;
}

/** One step of a maintainer. */
interface Step {
  readonly name: RootName;
  /**
   * The time between the reads of the root and of the rows, in milliseconds since the epoch. With an earlier one, the
   * watermark of another commit would seem to lie in the future.
   */
  readonly clock: number;
  readonly keys: readonly string[];
  /** Whether to count the rows of the tail that are older than the horizon. */
  readonly tail: boolean;
  /** Whether to commit even if it does not pay. */
  readonly always?: boolean;
  /** Whether some of the keys are of back-dated rows, which are new. */
  readonly backdated?: boolean;
  readonly limits: Limits;
  /** How rows are read; nodes are read and written with the same `retry`. */
  readonly reading?: Pick<RowReading, "retry" | "onPage">;
}

/**
 * Recounts the leaves of keys, then counts the tail, in one commit. It reads one page of the tail: so each commit makes
 * progress, however long the tail is and however much the table throttles.
 *
 * It commits even if no count differs: so the commit of a slower maintainer, which read older rows, fails.
 *
 * @throws TreeChangedError when another commit came first
 */
export async function advance(owner: CountedOwner, root: Root, step: Step): Promise<Progress> {
  const { name, clock, keys, limits } = step;
  // All rows before the horizon have been written. At or past the frontier no maintainer, however fast its clock, has
  // counted any row.
  const horizon = keyAt(owner.list, clock - limits.allowedLateness);
  const furthest = furthestWatermark(owner, clock, limits);
  if (root.watermark > furthest && root.watermark > latest(root.last.start, horizon)) {
    await moveBack(owner, root, horizon, step);
    return { rest: keys, more: true, young: 0, counted: 0, uncertain: [], newest: undefined };
  }
  const frontier = latest(root.watermark, furthest);
  const { retry, onPage } = step.reading ?? {};
  const page = { maxRows: limits.rangeRows, oneCall: true, retry, onPage };
  const tail = step.tail ? await readRows(owner, { start: root.watermark }, page) : noRows;
  const settled = tail.rows.filter(({ sk }) => sk < horizon);
  const young = tail.rows.length - settled.length;
  const newest = tail.next ?? tail.rows.at(-1)?.sk;
  const uncertain = keys.filter((key) => key >= horizon && key < frontier);
  const worthwhile = step.always || (settled.length > 0 && tail.rows.length > limits.tail);
  if (!worthwhile && root.pending.length === 0 && keys.every((key) => key >= frontier)) {
    return { rest: [], more: false, young, counted: 0, uncertain, newest };
  }
  const backdatedAt = step.backdated ? clock : root.backdatedAt;
  const edit = new TreeEdit(owner, { ...root, backdatedAt }, { limits, retry });
  const stale = keys.filter((key) => key < root.watermark);
  const left = new Set(await recountLeaves(edit, [...root.pending, ...stale], { owner, limits, retry }));
  const withTail =
    step.tail && left.size === 0 && (await countTail(edit, settled, tail, { horizon, limits }));
  await edit.commit(name);
  return {
    rest: keys.filter((key) => left.has(key)),
    more:
      edit.root.pending.length > 0 || (step.tail && !withTail) || (tail.next !== undefined && young === 0),
    young,
    counted: withTail ? settled.length : 0,
    uncertain,
    newest,
  };
}

/** The latest watermark that a maintainer can have set whose clock is right. */
export const furthestWatermark = ({ list }: CountedOwner, clock: number, limits: Limits) =>
  keyAt(list, clock - limits.allowedLateness + limits.skew);

/** Recounts the newest leaf up to the horizon and ends it there: a clock that was far ahead set a later watermark. */
async function moveBack(
  owner: CountedOwner,
  root: Root,
  horizon: string,
  { name, limits, reading: { retry } = {} }: Step,
): Promise<void> {
  const { start } = root.last;
  const edit = new TreeEdit(owner, { ...root, watermark: latest(start, horizon) }, { limits, retry });
  await recountLeaves(edit, [start], { owner, limits, retry });
  await edit.commit(name);
}

const noRows: Rows = { rows: [], next: undefined };

/**
 * Counts the settled rows of the tail into the newest leaf, and into new ones when that is full.
 *
 * @returns whether they fit into the commit
 */
async function countTail(
  edit: TreeEdit,
  settled: Rows["rows"],
  tail: Rows,
  { horizon, limits }: { readonly horizon: string; readonly limits: Limits },
): Promise<boolean> {
  const { last, watermark, statuses } = edit.root;
  const counted = fillLeaves(last, watermark, settled, statuses, limits.leafRows);
  const full = counted.leaves.slice(0, -1);
  if (edit.size > 0 && edit.sizeWith(full) > limits.transactionNodes) return false;
  await edit.append(full);
  const before = settled.at(-1)?.sk;
  const ended = tail.next === undefined || settled.length < tail.rows.length;
  const cut = ended || before === undefined ? horizon : separator(before, tail.next);
  edit.root = {
    ...edit.root,
    statuses: counted.statuses,
    last: counted.leaves.at(-1) ?? last,
    watermark: latest(watermark, earliest(cut, horizon)),
  };
  return true;
}
