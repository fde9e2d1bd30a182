import { setTimeout } from "node:timers/promises";
import { isBusy, TooExpensiveError } from "../../dynamodb/dynamodb-errors.ts";
import { type Retry, withRetry } from "../../dynamodb/retry.ts";
import type { CountedOwner } from "../tree/counted-list.ts";
import { emptyRoot } from "../tree/root.ts";
import { readRows } from "../tree/rows.ts";
import { type Limits, limits as productionLimits } from "../tree/tree-limits.ts";
import { commit, isTreeChanged, readRoot } from "../tree/tree-store.ts";
import { advance } from "./advance.ts";
import { warnIfStalled } from "./stalled-rebuild.ts";

/** The means of a maintainer besides the table. */
export interface Maintenance {
  /** When it must have ended, in milliseconds since the epoch. */
  readonly deadline: number;
  readonly limits?: Limits;
  readonly wait?: (milliseconds: number) => Promise<unknown>;
}

/** What another update of a list needs. */
export interface UnsettledRows {
  /** A sort key up to which the tail had rows. */
  readonly newest: string;
  /** The keys that the watermark has to pass: lists may remember their rows as they were. */
  readonly keys: readonly string[];
}

/** What a maintainer has done for a list. */
export interface Maintained {
  /** The keys that are not counted yet, in their order. */
  readonly rest: readonly string[];
  /** Whether rows that are old enough have not been counted. */
  readonly more: boolean;
  /** Set if rows were too young, and another update pays when they are old enough. */
  readonly unsettled: UnsettledRows | undefined;
  /** The error that ended it before everything was counted. */
  readonly error?: unknown;
}

/**
 * How many keys below the watermark are counted before those that follow them in the stream. A batch that is not finished
 * in time begins again at its first key that is not counted.
 */
const keysAtOnce = 1000;

/**
 * Updates the counts of a list for rows that were created, deleted, or moved to another status, source or channel. The root
 * of an erased account's list expires: it stays as it is until the list has rows again.
 *
 * It recounts the leaf of each key and adds up no events, so keys may come twice, late and in any order. It retries until
 * the deadline while other commits come first or the table is busy.
 *
 * @param keys the sort keys of the rows, in the order of the stream
 * @param backdated whether some of the rows are new, but were created with an earlier time
 */
export async function maintain(
  owner: CountedOwner,
  keys: readonly string[],
  {
    deadline,
    limits = productionLimits,
    wait = setTimeout,
    backdated = false,
  }: Maintenance & { readonly backdated?: boolean },
): Promise<Maintained> {
  const retryBusy: Retry = (call) => withRetry(call, { deadline, isRetryable: isBusy, wait });
  const context: Context = { owner, limits, reading: { retry: retryBusy }, deadline };
  let rest = keys;
  let more = true;
  const uncertain: string[] = [];
  let unsettled: UnsettledRows | undefined;
  let always = false;
  // The rebuild whose tree has been updated, and the keys that were counted in it.
  let rebuilding: number | undefined;
  let rebuilt: ReadonlySet<string> = new Set();
  const update = async () => {
    const root = (await readRoot(owner)) ?? emptyRoot(Date.now());
    if (root.expiresAt !== undefined) {
      // Nothing is counted by a commit over a root that expires: so none can be missed here.
      if (await hasRows(context)) return commit(owner, "root", { ...root, expiresAt: undefined }, []);
      rest = [];
      more = false;
      return;
    }
    const clock = Date.now();
    const next = firstKeys(rest, root.watermark);
    const inRebuild = root.rebuilding === rebuilding && next.every((key) => rebuilt.has(key));
    if (root.rebuilding !== undefined && !inRebuild) {
      await updateRebuildTree(context, next);
      rebuilding = root.rebuilding;
      rebuilt = new Set(next);
      return;
    }
    const tail = next.length === rest.length;
    const progress = await advance(owner, root, {
      ...context,
      name: "root",
      clock,
      keys: next,
      tail,
      always,
      backdated,
    });
    // The keys of a tail of several pages are done with its first one, so the watermark has to pass its last one.
    always = true;
    const left = new Set(progress.rest);
    const counted = new Set(next.filter((key) => !left.has(key)));
    rest = rest.filter((key) => !counted.has(key));
    more = progress.more || !tail;
    const { young, newest = root.watermark } = progress;
    uncertain.push(...progress.uncertain);
    unsettled = young > limits.tail || uncertain.length > 0 ? { newest, keys: uncertain } : undefined;
  };
  let error: unknown;
  try {
    while ((rest.length > 0 || more) && Date.now() < deadline) {
      await withRetry(update, {
        deadline,
        isRetryable: (failure) => isTreeChanged(failure) || isBusy(failure),
        wait,
      });
    }
  } catch (failure) {
    // Only the time is up.
    if (!(failure instanceof TooExpensiveError)) error = failure;
  }
  return { rest, more, unsettled, error };
}

interface Context {
  readonly owner: CountedOwner;
  readonly limits: Limits;
  readonly reading: { readonly retry: Retry };
  readonly deadline: number;
}

/** Whether the list has any row. */
async function hasRows({ owner, reading }: Context): Promise<boolean> {
  const { rows } = await readRows(owner, { start: "" }, { ...reading, maxRows: 1, oneCall: true });
  return rows.length > 0;
}

/** The first keys, among them at most `keysAtOnce` below the watermark: only for those are rows read. */
function firstKeys(keys: readonly string[], watermark: string): readonly string[] {
  let stale = 0;
  const end = keys.findIndex((key) => key < watermark && ++stale > keysAtOnce);
  return end < 0 ? keys : keys.slice(0, end);
}

/** Recounts the leaves of keys in the tree that a rebuild builds, before the tree that it will replace. */
async function updateRebuildTree(
  { owner, deadline, ...step }: Context,
  keys: readonly string[],
): Promise<void> {
  for (let rest = keys; rest.length > 0; ) {
    if (Date.now() >= deadline)
      throw new TooExpensiveError("too_slow", "The tree of the rebuild is not updated yet.");
    const root = await readRoot(owner, "next");
    if (!root) return;
    const clock = Date.now();
    if (rest === keys) warnIfStalled(owner, root, clock);
    // The rebuild counts the tail of its tree itself.
    ({ rest } = await advance(owner, root, { ...step, name: "next", clock, keys: rest, tail: false }));
  }
}
