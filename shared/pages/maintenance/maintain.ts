import { setTimeout } from "node:timers/promises";
import { emptyRoot } from "../tree/root.ts";
import { limits as inService, type Limits } from "../tree/tree-limits.ts";
import { type CountedOwner, readRoot, TreeChangedError } from "../tree/tree-store.ts";
import { advance } from "./advance.ts";
import type { Changes } from "./changes.ts";

/** What a maintainer works with beside the table. */
export interface Maintenance {
  /** When it must have ended, in milliseconds since the epoch. */
  readonly deadline: number;
  readonly limits?: Limits;
  readonly wait?: (milliseconds: number) => Promise<unknown>;
}

/** How many lists are maintained at once. */
const parallelLists = 8;

/** The longest pause before the next attempt when another commit came first, in milliseconds. */
const longestPause = 200;

/**
 * Brings the counts of lists up to date with a batch of changes, and waits once, if need be, until a burst among them
 * has settled: lists would pay for one that nothing follows until the next row is created.
 *
 * @returns the changes that were not counted, and why
 */
export async function maintainLists(
  changes: readonly Changes[],
  { deadline, limits = inService, wait = setTimeout }: Maintenance,
): Promise<{ readonly changes: Changes; readonly error: unknown }[]> {
  const maintenance = { deadline, limits, wait };
  const failures: { changes: Changes; error: unknown }[] = [];
  const bursts: Changes[] = [];
  await inGroups(changes, async (list) => {
    try {
      if (await maintain(list.owner, list.keys, maintenance)) bursts.push(list);
    } catch (error) {
      failures.push({ changes: list, error });
    }
  });
  if (bursts.length === 0 || Date.now() + limits.allowedLateness >= deadline) return failures;
  await wait(limits.allowedLateness);
  // What is not counted now is with the next change: lists are exact without.
  await inGroups(bursts, ({ owner }) => maintain(owner, [], maintenance).catch(() => {}));
  return failures;
}

async function inGroups<T>(items: readonly T[], run: (item: T) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < items.length; from += parallelLists) {
    await Promise.all(items.slice(from, from + parallelLists).map(run));
  }
}

/**
 * Brings the counts of a list up to date with rows that were created, deleted, or changed in status or origin.
 *
 * Nothing is added up from events: the leaf of each key is counted anew, so keys may come twice, late and in any order.
 *
 * @param keys the sort keys of those rows
 * @returns whether so many rows were too young to be counted that it is worth another call when they have settled
 * @throws TreeChangedError when other commits came first until the deadline
 */
export async function maintain(
  owner: CountedOwner,
  keys: readonly string[],
  { deadline, limits = inService, wait = setTimeout }: Maintenance,
): Promise<boolean> {
  let told: number | undefined;
  let rest = keys;
  for (;;) {
    try {
      const clock = clockBefore(deadline);
      const root = (await readRoot(owner)) ?? emptyRoot(1);
      if (root.rebuilding !== told && root.rebuilding !== undefined) {
        await updateRebuildTree(owner, keys, deadline, limits);
        told = root.rebuilding;
        continue;
      }
      const progress = await advance(owner, root, { name: "root", clock, keys: rest, tail: true, limits });
      rest = progress.rest;
      if (rest.length === 0 && !progress.more) return progress.young > limits.tail;
    } catch (error) {
      const pause = Math.random() * longestPause;
      if (!(error instanceof TreeChangedError) || Date.now() + pause >= deadline) throw error;
      await wait(pause);
    }
  }
}

/** Counts the leaves of keys in the tree that a rebuild makes, before the one that it is to replace. */
async function updateRebuildTree(
  owner: CountedOwner,
  keys: readonly string[],
  deadline: number,
  limits: Limits,
): Promise<void> {
  let rest = keys;
  while (rest.length > 0) {
    const clock = clockBefore(deadline);
    const root = await readRoot(owner, "next");
    if (!root) return;
    // Its tail is the rebuild's own work.
    ({ rest } = await advance(owner, root, { name: "next", clock, keys: rest, tail: false, limits }));
  }
}

/** The time, which is read before the root and the rows. */
function clockBefore(deadline: number): number {
  const clock = Date.now();
  if (clock >= deadline) throw new Error("There was no time to count the list to the end.");
  return clock;
}
