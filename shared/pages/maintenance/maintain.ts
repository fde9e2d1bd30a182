import { setTimeout } from "node:timers/promises";
import { withRetry } from "../../dynamodb/retry.ts";
import { emptyRoot } from "../tree/root.ts";
import { type Limits, limits as productionLimits } from "../tree/tree-limits.ts";
import { type CountedOwner, isTreeChanged, readRoot } from "../tree/tree-store.ts";
import { advance } from "./advance.ts";
import type { Changes } from "./changes.ts";

/** The means of a maintainer besides the table. */
export interface Maintenance {
  /** When it must have ended, in milliseconds since the epoch. */
  readonly deadline: number;
  readonly limits?: Limits;
  readonly wait?: (milliseconds: number) => Promise<unknown>;
}

/** How many lists are maintained at once. */
const parallelLists = 8;

/**
 * Updates the counts of lists for a batch of changes. After a burst it waits once for the allowed lateness and updates
 * again, because lists would pay for the burst until the next row is created.
 *
 * @returns the changes that were not counted, each with its error
 */
export async function maintainLists(
  changes: readonly Changes[],
  { deadline, limits = productionLimits, wait = setTimeout }: Maintenance,
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
  // Rows that are not counted yet are counted with the next change; lists stay exact because they read the tail.
  await inGroups(bursts, ({ owner }) => maintain(owner, [], maintenance).catch(() => {}));
  return failures;
}

async function inGroups<T>(items: readonly T[], run: (item: T) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < items.length; from += parallelLists) {
    await Promise.all(items.slice(from, from + parallelLists).map(run));
  }
}

/**
 * Updates the counts of a list for rows that were created, deleted, or moved to another status, source or channel.
 *
 * It recounts the leaf of each key and adds up no events, so keys may come twice, late and in any order.
 *
 * @param keys the sort keys of the rows
 * @returns whether so many rows were too young that another call pays when they are old enough
 * @throws TreeChangedError when other commits came first until the deadline
 */
export function maintain(
  owner: CountedOwner,
  keys: readonly string[],
  { deadline, limits = productionLimits, wait = setTimeout }: Maintenance,
): Promise<boolean> {
  let updatedRebuild: number | undefined;
  let rest = keys;
  const update = async () => {
    for (;;) {
      const clock = readClock(deadline);
      const root = (await readRoot(owner)) ?? emptyRoot(1);
      if (root.rebuilding !== undefined && root.rebuilding !== updatedRebuild) {
        await updateRebuildTree(owner, keys, deadline, limits);
        updatedRebuild = root.rebuilding;
        continue;
      }
      const progress = await advance(owner, root, { name: "root", clock, keys: rest, tail: true, limits });
      rest = progress.rest;
      if (rest.length === 0 && !progress.more) return progress.young > limits.tail;
    }
  };
  return withRetry(update, { deadline, isRetryable: isTreeChanged, wait });
}

/** Recounts the leaves of keys in the tree that a rebuild builds, before the tree that it will replace. */
async function updateRebuildTree(
  owner: CountedOwner,
  keys: readonly string[],
  deadline: number,
  limits: Limits,
): Promise<void> {
  let rest = keys;
  while (rest.length > 0) {
    const clock = readClock(deadline);
    const root = await readRoot(owner, "next");
    if (!root) return;
    // The rebuild counts the tail of its tree itself.
    ({ rest } = await advance(owner, root, { name: "next", clock, keys: rest, tail: false, limits }));
  }
}

/** The time, to be read before the root and the rows. */
function readClock(deadline: number): number {
  const clock = Date.now();
  if (clock >= deadline) throw new Error("The deadline has passed.");
  return clock;
}
