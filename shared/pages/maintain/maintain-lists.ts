import { setTimeout } from "node:timers/promises";
import { isBusy } from "../../dynamodb/dynamodb-errors.ts";
import { inParallel } from "../../in-parallel.ts";
import type { CountedOwner } from "../tree/counted-list.ts";
import { limits as productionLimits } from "../tree/tree-limits.ts";
import type { Changes, RowChange } from "./changes.ts";
import { maintainList } from "./maintain-list.ts";
import type { Maintenance } from "./maintained-tree.ts";

/** Lists whose newest rows were too young to be counted, and when these are old enough, by the names of the lists. */
export type Unsettled = Map<string, { readonly owner: CountedOwner; readonly settledAt: number }>;

interface Unfinished {
  readonly owner: CountedOwner;
  /** The rows whose records have to come again; none if they were of an earlier batch. */
  readonly rest: readonly RowChange[];
  /** Why; undefined when only the time was up. */
  readonly error: unknown;
}

/** How many lists are updated at once: a batch may have those of hundreds of accounts, with a few calls each. */
const parallelLists = 32;

/** How long a batch works on one list, in milliseconds: the records behind it, of other lists, wait that long at most. */
const listTime = 20_000;

/** The same for the rows of an earlier batch that have settled: if it is too short, lists only cost more. */
const settledTime = 2000;

/**
 * Updates the counts of lists for a batch of changes, and of `unsettled` lists whose newest rows are old enough. If the table
 * has no newer rows of these lists, it then waits until the newest rows are old enough to be counted, because lists would
 * read them until the next row is created.
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
    const name = `${owner.account} ${owner.list.type}`;
    const context = { limits, wait, deadline: Math.min(deadline, Date.now() + time) };
    const { rest, list, error } = await maintainList(owner, rows, context);
    if (list?.waitsForAge) unsettled.set(name, { owner, settledAt: Date.now() + limits.allowedLateness });
    // A list that fails for good is tried again with its next change: no batch waits for rows while one is unfinished.
    else if (list || (error && !isBusy(error))) unsettled.delete(name);
    const { newest = "" } = list ?? {};
    moreBehind ||= rows.length > 0 && rows.every(({ key }) => key < newest);
    if (rest.length > 0 || error) unfinished.push({ owner, rest, error });
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
