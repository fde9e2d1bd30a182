import { setTimeout } from "node:timers/promises";
import { keyAt } from "../tree/counted-list.ts";
import { readRows } from "../tree/rows.ts";
import { limits as productionLimits } from "../tree/tree-limits.ts";
import type { CountedOwner } from "../tree/tree-store.ts";
import type { Changes } from "./changes.ts";
import { type Maintenance, maintain, type UnsettledRows } from "./maintain.ts";

/** A list whose newest rows were too young to be counted. */
interface UnsettledList extends UnsettledRows {
  readonly owner: CountedOwner;
  /** When it was last updated, in milliseconds since the epoch. */
  readonly updatedAt: number;
  /** When the rows are old enough. */
  readonly at: number;
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

/** How many lists are maintained at once. */
const parallelLists = 8;

/** How long a batch works on one list, in milliseconds: the records behind it, of other lists, wait that long at most. */
const listTime = 15_000;

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
  const update = async (owner: CountedOwner, keys: readonly string[], time = listTime) => {
    const name = `${owner.account} ${owner.list.type}`;
    const before = unsettled.get(name);
    const listDeadline = Math.min(deadline, Date.now() + time);
    const means = { deadline: listDeadline, limits, wait };
    const maintained = await maintain(owner, [...keys, ...(before?.keys ?? [])], means);
    const rows = maintained.unsettled;
    const updatedAt = Date.now();
    const at = updatedAt + limits.allowedLateness;
    const rest = new Set(maintained.rest);
    const left = before?.keys.filter((key) => rest.has(key)) ?? [];
    if (rows) unsettled.set(name, { ...rows, keys: [...rows.keys, ...left], owner, updatedAt, at });
    else if (left.length === 0 && !maintained.more) unsettled.delete(name);
    const known = [...keys, before?.newest ?? ""];
    moreBehind ||= rows !== undefined && known.every((key) => key < rows.newest);
    return maintained;
  };
  // The longest starts last, so that no other list waits for it.
  const shortestFirst = changes.toSorted((a, b) => a.keys.length - b.keys.length);
  await inParallel(shortestFirst, async ({ owner, keys, sequenceNumbers }) => {
    const { rest, more, error } = await update(owner, keys);
    const left = new Set(rest);
    const again = sequenceNumbers.filter((_, index) => left.has(keys[index] ?? ""));
    if (again.length > 0) unfinished.push({ owner, sequenceNumbers: again, error });
    // The last record comes again, to continue with the tail.
    else if (more) unfinished.push({ owner, sequenceNumbers: sequenceNumbers.slice(-1), error });
  });
  const updateSettled = async () => {
    const settled = [...unsettled.values()].filter(({ at }) => at <= Date.now());
    await inParallel(settled, ({ owner }) => update(owner, [], settledTime));
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

async function inParallel<T>(items: readonly T[], run: (item: T) => Promise<unknown>): Promise<void> {
  // The workers share one iterator.
  const queue = items.values();
  const worker = async () => {
    for (const item of queue) await run(item);
  };
  await Promise.all(Array.from({ length: parallelLists }, worker));
}
