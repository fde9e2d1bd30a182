import { setTimeout } from "node:timers/promises";
import type { Changes } from "./changes.ts";
import { Draft } from "./draft.ts";
import { separator } from "./entry.ts";
import { limits as inService, type Limits } from "./limits.ts";
import { keyAt } from "./list.ts";
import { fillLeaves, recountLeaf } from "./recount.ts";
import { emptyRoot, type Root } from "./root.ts";
import { type Rows, readRows } from "./rows.ts";
import { type CountedOwner, type RootName, readRoot, TreeChangedError } from "./tree-store.ts";

/** What a maintainer works with beside the table. */
export interface Maintenance {
  /** When it must have ended, in milliseconds since the epoch. */
  readonly deadline: number;
  readonly limits?: Limits;
  readonly wait?: (milliseconds: number) => Promise<unknown>;
}

/** What a commit left to do. */
interface Progress {
  /** The keys whose leaves are still to be counted. */
  readonly rest: readonly string[];
  /** Whether rows that are old enough are still to be counted. */
  readonly more: boolean;
  /** How many rows were too young to be counted. */
  readonly young: number;
  /** How many rows of the tail were counted. */
  readonly counted: number;
}

/** How many lists are maintained at once. */
const parallelLists = 8;

/** How many leaves of a list are read at once. */
const parallelLeaves = 8;

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
  if (bursts.length === 0 || Date.now() + limits.settle >= deadline) return failures;
  await wait(limits.settle);
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
        await tellNext(owner, keys, deadline, limits);
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
async function tellNext(
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

/** One step of a maintainer. */
interface Step {
  readonly name: RootName;
  /** The time before the root was read, in milliseconds since the epoch. */
  readonly clock: number;
  readonly keys: readonly string[];
  /** Whether to count the rows of the tail that are older than the horizon. */
  readonly tail: boolean;
  /** Whether to commit even if nothing is worth it. */
  readonly always?: boolean;
  readonly limits: Limits;
}

/**
 * Counts the leaves of keys anew, then the tail, in one commit.
 *
 * It commits even if nothing differs: that makes the commit of a slower maintainer, whose rows are older, fail.
 *
 * @throws TreeChangedError when another commit came first
 */
export async function advance(owner: CountedOwner, root: Root, step: Step): Promise<Progress> {
  const { name, clock, keys, limits } = step;
  // All rows before the horizon have been written; at or past the frontier nobody, however fast their clock, has
  // counted any, or is about to.
  const horizon = keyAt(owner.list, clock - limits.settle);
  const frontier = latest(root.through, keyAt(owner.list, clock - limits.settle + limits.skew));
  const tail = step.tail ? await readRows(owner, { start: root.through }, limits.rangeRows) : noRows;
  const settled = tail.rows.filter(({ sk }) => sk < horizon);
  const young = tail.rows.length - settled.length;
  const worthwhile = step.always || (settled.length > 0 && tail.rows.length > limits.tail);
  if (!worthwhile && root.pending.length === 0 && keys.every((key) => key >= frontier)) {
    return { rest: [], more: false, young, counted: 0 };
  }
  const draft = new Draft(owner, root, limits);
  const stale = keys.filter((key) => key < root.through);
  const left = await recount(owner, draft, [...root.pending, ...stale], limits);
  // While keys are left, those of the tail stay with them: the tail is counted in the last commit.
  const rest = left.length === 0 ? [] : keys.filter((key) => key >= root.through || left.includes(key));
  const withTail =
    step.tail && left.length === 0 && (await countTail(draft, settled, tail, { horizon, limits }));
  await draft.commit(name);
  return {
    rest,
    more:
      draft.root.pending.length > 0 || (step.tail && !withTail) || (tail.next !== undefined && young === 0),
    young,
    counted: withTail ? settled.length : 0,
  };
}

const noRows: Rows = { rows: [], next: undefined };

/** Counts the leaves of keys anew. @returns the keys that have to wait, because the commit is full */
async function recount(
  owner: CountedOwner,
  draft: Draft,
  keys: readonly string[],
  limits: Limits,
): Promise<readonly string[]> {
  let rest = [...new Set(keys)].sort();
  while (rest.length > 0 && draft.size < limits.commitNodes) {
    const found = await Promise.all(rest.slice(0, parallelLeaves).map((key) => draft.findLeaf(key)));
    const ranges = new Map(found.map((range) => [range.start, range])).values();
    const leaves = await Promise.all(
      Array.from(ranges, async (range) => ({
        ...range,
        rows: await readRows(owner, range, limits.rangeRows),
      })),
    );
    for (const { start, end, rows } of leaves) {
      if (draft.size >= limits.commitNodes) break;
      const { leaves, names, pending } = recountLeaf(start, rows, draft.root.names, limits);
      await draft.replaceLeaf(start, leaves);
      const others = draft.root.pending.filter((waiting) => waiting !== start);
      draft.root = { ...draft.root, names, pending: pending === undefined ? others : [...others, pending] };
      rest = rest.filter((key) => key < start || key >= end);
    }
  }
  return rest;
}

/**
 * Counts the settled rows of the tail into the newest leaf, and into new ones when it is full.
 *
 * @returns whether there was room for them in the commit
 */
async function countTail(
  draft: Draft,
  settled: Rows["rows"],
  tail: Rows,
  { horizon, limits }: { readonly horizon: string; readonly limits: Limits },
): Promise<boolean> {
  const { last, through, names } = draft.root;
  const counted = fillLeaves(last, through, settled, names, limits.leafRows);
  const full = counted.leaves.slice(0, -1);
  if (draft.size > 0 && draft.sizeWith(full) > limits.transactionNodes) return false;
  await draft.append(full);
  const before = settled.at(-1)?.sk;
  const cut = tail.next !== undefined && before !== undefined ? separator(before, tail.next) : horizon;
  draft.root = {
    ...draft.root,
    names: counted.names,
    last: counted.leaves.at(-1) ?? last,
    through: latest(through, earliest(cut, horizon)),
  };
  return true;
}

const earliest = (a: string, b: string) => (a < b ? a : b);
const latest = (a: string, b: string) => (a > b ? a : b);
