import { setTimeout } from "node:timers/promises";
import { type CountedOwner, keyAt } from "../tree/counted-list.ts";
import { readRows } from "../tree/rows.ts";
import { limits as productionLimits } from "../tree/tree-limits.ts";
import type { Changes, RowChange } from "./changes.ts";
import { inParallel } from "./in-parallel.ts";
import { type Maintenance, maintainList } from "./maintain-list.ts";

/** A list whose newest rows were too young to be counted. */
interface UnsettledList {
  readonly owner: CountedOwner;
  /** When it was last updated, in milliseconds since the epoch. */
  readonly updatedAt: number;
}

/** Unsettled lists, by their names. */
export type Unsettled = Map<string, UnsettledList>;

/** Changes of a list that have to be delivered again. */
export interface Unfinished {
  readonly owner: CountedOwner;
  /** The sequence numbers of the records. */
  readonly sequenceNumbers: readonly string[];
  /** Why; undefined when only the time was up. */
  readonly error: unknown;
}

/** How many lists are updated at once: a batch may have those of hundreds of accounts, with a few calls each. */
const parallelLists = 32;

/** How long a batch works on one list, in milliseconds: the records behind it, of other lists, wait that long at most. */
const listTime = 20_000;

/** The same for the rows of an earlier batch that have settled: if it is too short, lists only cost more. */
const settledTime = 2000;

/** How long after a batch it shows whether more rows follow, in milliseconds. */
const followTime = 1000;

/** Of how many unsettled lists that is looked up. */
const followedLists = 8;

/**
 * Updates the counts of lists for a batch of changes. If no more rows follow, it then waits until the newest rows are old
 * enough to be counted, because lists would read them until the next row is created.
 *
 * @param unsettled the lists that earlier batches left with young rows, which are updated as soon as they are old enough
 */
export async function maintainLists(
  changes: readonly Changes[],
  {
    unsettled = new Map(),
    limits = productionLimits,
    wait = setTimeout,
    deadline,
  }: Maintenance & { readonly unsettled?: Unsettled },
): Promise<Unfinished[]> {
  const unfinished: Unfinished[] = [];
  let moreBehind = false;
  const update = async (owner: CountedOwner, rows: readonly RowChange[], time: number) => {
    const means = { limits, wait, deadline: Math.min(deadline, Date.now() + time) };
    const { rest, progress, error } = await maintainList(owner, rows, means);
    const name = `${owner.account} ${owner.list.type}`;
    if (progress?.young) unsettled.set(name, { owner, updatedAt: Date.now() });
    else if (progress) unsettled.delete(name);
    const { newest = "" } = progress ?? {};
    moreBehind ||= rows.length > 0 && rows.every(({ key }) => key < newest);
    const sequenceNumbers = rest.map(({ sequenceNumber }) => sequenceNumber);
    if (sequenceNumbers.length > 0 || error) unfinished.push({ owner, sequenceNumbers, error });
  };
  // The longest starts last, so that no other list waits for it.
  const shortestFirst = changes.toSorted((a, b) => a.rows.length - b.rows.length);
  await inParallel(shortestFirst, ({ owner, rows }) => update(owner, rows, listTime), parallelLists);
  const updateSettled = async () => {
    const due = [...unsettled.values()].filter((list) => settledAt(list) <= Date.now());
    await inParallel(due, ({ owner }) => update(owner, [], settledTime));
  };
  const settledAt = ({ updatedAt }: UnsettledList) => updatedAt + limits.allowedLateness;
  await updateSettled();
  const end = Math.max(0, ...Array.from(unsettled.values(), settledAt));
  if (unfinished.length > 0 || moreBehind || unsettled.size === 0 || end >= deadline) return unfinished;
  await wait(followTime);
  if (await someFollow([...unsettled.values()].slice(-followedLists))) return unfinished;
  await wait(Math.max(0, end - Date.now()));
  await updateSettled();
  return unfinished;
}

/** Whether rows were created since lists were updated, so that the next batch is due. */
async function someFollow(lists: readonly UnsettledList[]): Promise<boolean> {
  try {
    const read = ({ owner, updatedAt }: UnsettledList) =>
      readRows(owner, { start: keyAt(owner.list, updatedAt + 1), maxRows: 1 });
    return (await Promise.all(lists.map(read))).some(({ rows }) => rows.length > 0);
  } catch {
    // A table that is busy has more to do.
    return true;
  }
}
