import { setTimeout } from "node:timers/promises";
import { inParallel } from "../../in-parallel.ts";
import type { CountedOwner } from "../tree/counted-list.ts";
import { limits as productionLimits } from "../tree/tree-limits.ts";
import type { Changes, RowChange } from "./changes.ts";
import { isLong, type TailSize } from "./list-step.ts";
import { maintainList } from "./maintain-list.ts";
import type { Maintenance } from "./maintained-tree.ts";

/** Lists whose newest rows were too young to be counted, and when these are old enough, by the names of the lists. */
export type Unsettled = Map<string, { readonly owner: CountedOwner; readonly settledAt: number }>;

/** The size of a short tail, as it was read at a time, in milliseconds since the epoch, and what was created since. */
type ShortTail = TailSize & { readonly readAt: number };

/**
 * Those of lists, by their names, as far as the records of this environment tell. If another one has others, or records come
 * twice, lists only cost more.
 */
export type ShortTails = Map<string, ShortTail>;

interface Unfinished {
  readonly owner: CountedOwner;
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

/** The most short tails that are remembered: about 20 MB. */
const maxShortTails = 100_000;

/**
 * How long they are remembered, in milliseconds. Records that another environment could not finish come again, and this one may
 * remember that there was nothing to do: then the next row that is created later goes on.
 */
const remembered = 300_000;

/**
 * Updates the counts of lists for a batch of changes. If the table has no newer rows of these lists, it then waits until
 * the newest rows are old enough to be counted, because lists would read them until the next row is created.
 *
 * @param unsettled the lists that earlier batches left with young rows, which are updated as soon as they are old enough
 * @param shortTails those that earlier batches have read: nothing is read of a list while its tail stays short
 */
export async function maintainLists(
  changes: readonly Changes[],
  {
    unsettled = new Map(),
    shortTails = new Map(),
    limits = productionLimits,
    wait = setTimeout,
    deadline,
  }: Maintenance & { readonly unsettled?: Unsettled; readonly shortTails?: ShortTails },
): Promise<Unfinished[]> {
  const unfinished: Unfinished[] = [];
  let moreBehind = false;
  const update = async (owner: CountedOwner, rows: readonly RowChange[], time: number) => {
    const name = `${owner.account} ${owner.list.type}`;
    const tail = withCreated(shortTails.get(name), rows);
    if (tail && !isLong(tail, limits)) {
      shortTails.set(name, tail);
      return;
    }
    shortTails.delete(name);
    const context = { limits, wait, deadline: Math.min(deadline, Date.now() + time) };
    const { rest, list, error } = await maintainList(owner, rows, context);
    if (list?.young) unsettled.set(name, { owner, settledAt: Date.now() + limits.allowedLateness });
    else if (list) unsettled.delete(name);
    const { newest = "" } = list ?? {};
    moreBehind ||= rows.length > 0 && rows.every(({ key }) => key < newest);
    const sequenceNumbers = rest.map(({ sequenceNumber }) => sequenceNumber);
    if (sequenceNumbers.length > 0 || error) unfinished.push({ owner, sequenceNumbers, error });
    else if (list?.tail && !isLong(list.tail, limits)) {
      if (shortTails.size >= maxShortTails) shortTails.clear();
      shortTails.set(name, { ...list.tail, readAt: Date.now() });
    }
  };
  // The longest starts last, so that no other list waits for it.
  const shortestFirst = changes.toSorted((a, b) => a.rows.length - b.rows.length);
  await inParallel(shortestFirst, ({ owner, rows }) => update(owner, rows, listTime), parallelLists);
  const updateSettled = async () => {
    const due = [...unsettled.values()].filter(({ settledAt }) => settledAt <= Date.now());
    await inParallel(due, ({ owner }) => update(owner, [], settledTime));
  };
  await updateSettled();
  const end = Math.max(0, ...Array.from(unsettled.values(), ({ settledAt }) => settledAt));
  if (unfinished.length > 0 || moreBehind || unsettled.size === 0 || end >= deadline) return unfinished;
  await wait(Math.max(0, end - Date.now()));
  await updateSettled();
  return unfinished;
}

/** A tail after rows were created; undefined if it is not known or was read too long ago, or if rows were changed. */
function withCreated(tail: ShortTail | undefined, rows: readonly RowChange[]): ShortTail | undefined {
  if (!tail || Date.now() - tail.readAt > remembered) return undefined;
  if (rows.some(({ kind }) => kind === "changed")) return undefined;
  const bytes = rows.reduce((sum, row) => sum + (row.bytes ?? Number.POSITIVE_INFINITY), 0);
  // A read unit is 4 KB.
  return { ...tail, rows: tail.rows + rows.length, units: tail.units + bytes / 4096 };
}
