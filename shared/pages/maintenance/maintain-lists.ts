import { setTimeout } from "node:timers/promises";
import { type CountedOwner, keyAt } from "../tree/counted-list.ts";
import { readRows } from "../tree/rows.ts";
import { limits as productionLimits } from "../tree/tree-limits.ts";
import type { Changes, RowChange } from "./changes.ts";
import { inParallel } from "./in-parallel.ts";
import { type Maintenance, maintain, type UnsettledRows } from "./maintain.ts";
import { maintainSublists } from "./maintain-sublists.ts";

/** A list whose newest rows were too young to be counted. */
interface UnsettledList extends UnsettledRows {
  readonly owner: CountedOwner;
  /** When it was last updated, in milliseconds since the epoch. */
  readonly updatedAt: number;
  /** When the rows are old enough. */
  readonly at: number;
  /** Its rows that were created since there were none so young: their sublists are looked at when they are old enough. */
  readonly created: readonly RowChange[];
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

/** How long a batch works on one list, in milliseconds: the records behind it, of other lists, wait that long at most. */
const listTime = 15_000;

/** The same for the sublists of its rows. */
const sublistsTime = 10_000;

/** The same for the rows of an earlier batch that have settled: if it is too short, lists only cost more. */
const settledTime = 2000;

/** The most of these rows that are remembered. */
const mostCreated = 10_000;

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
  const update = async (owner: CountedOwner, changes: readonly RowChange[], time = listTime) => {
    const name = `${owner.account} ${owner.list.type}`;
    const before = unsettled.get(name);
    const means = { limits, wait, deadline: Math.min(deadline, Date.now() + time) };
    const keys = changes.map(({ key }) => key);
    const backdated = changes.some(({ kind }) => kind === "backdated");
    const maintained = await maintain(owner, [...keys, ...(before?.keys ?? [])], { ...means, backdated });
    const rows = maintained.unsettled;
    const updatedAt = Date.now();
    const at = updatedAt + limits.allowedLateness;
    const rest = new Set(maintained.rest);
    const left = before?.keys.filter((key) => rest.has(key)) ?? [];
    const known = before?.created ?? [];
    const created = [...known, ...changes.filter(({ kind }) => kind === "created")].slice(-mostCreated);
    if (rows) {
      unsettled.set(name, { ...rows, keys: [...rows.keys, ...left], owner, updatedAt, at, created });
    } else if (left.length === 0 && !maintained.more) unsettled.delete(name);
    const delivered = [...keys, before?.newest ?? ""];
    moreBehind ||= rows !== undefined && delivered.every((key) => key < rows.newest);
    return { ...maintained, rest, settled: rows ? [] : known };
  };
  const updateSublists = (owner: CountedOwner, changes: readonly RowChange[], time: number) =>
    maintainSublists(owner, changes, { limits, wait, deadline: Math.min(deadline, Date.now() + time) });
  // The longest starts last, so that no other list waits for it.
  const shortestFirst = changes.toSorted((a, b) => a.rows.length - b.rows.length);
  await inParallel(shortestFirst, async ({ owner, rows }) => {
    const { rest, more, error, settled } = await update(owner, rows);
    // A batch that is not finished begins again at its first row that is not counted.
    const first = rows.findIndex(({ key }) => rest.has(key));
    const counted = first < 0 ? rows : rows.slice(0, first);
    const sublists = await updateSublists(owner, [...counted, ...settled], sublistsTime);
    const again = rows.filter(({ key }) => rest.has(key) || sublists.rest.has(key));
    // The last record comes again, to continue with the tail.
    const unfinishedRows = again.length > 0 || !more ? again : rows.slice(-1);
    const sequenceNumbers = unfinishedRows.map(({ sequenceNumber }) => sequenceNumber);
    const failure = error ?? sublists.error;
    if (sequenceNumbers.length > 0 || failure) unfinished.push({ owner, sequenceNumbers, error: failure });
  });
  const updateSettled = async () => {
    const due = [...unsettled.values()].filter(({ at }) => at <= Date.now());
    await inParallel(due, async ({ owner }) => {
      const { settled } = await update(owner, [], settledTime);
      await updateSublists(owner, settled, settledTime);
    });
  };
  await updateSettled();
  const settledAt = Math.max(0, ...Array.from(unsettled.values(), ({ at }) => at));
  if (unfinished.length > 0 || moreBehind || unsettled.size === 0 || settledAt >= deadline) return unfinished;
  await wait(followTime);
  if (await someFollow([...unsettled.values()].slice(-followedLists))) return unfinished;
  await wait(Math.max(0, settledAt - Date.now()));
  await updateSettled();
  return unfinished;
}

/** Whether rows were created since lists were updated, so that the next batch is due. */
async function someFollow(lists: readonly UnsettledList[]): Promise<boolean> {
  try {
    const read = ({ owner, updatedAt }: UnsettledList) =>
      readRows(owner, { start: keyAt(owner.list, updatedAt + 1) }, { maxRows: 1, oneCall: true });
    return (await Promise.all(lists.map(read))).some(({ rows }) => rows.length > 0);
  } catch {
    // A table that is busy has more to do.
    return true;
  }
}
