import { setTimeout } from "node:timers/promises";
import { isBusy, TooExpensiveError } from "../../dynamodb/dynamodb-errors.ts";
import { type Retry, withRetry } from "../../dynamodb/retry.ts";
import type { CountedOwner, SublistOwner } from "../tree/counted-list.ts";
import { type Limits, limits as productionLimits } from "../tree/tree-limits.ts";
import { DamagedTreeError, isTreeChanged, treeKey } from "../tree/tree-store.ts";
import { advance, type Progress } from "./advance.ts";
import { advanceSublist, fill } from "./advance-sublist.ts";
import type { RowChange } from "./changes.ts";
import { emptyTree } from "./empty-tree.ts";
import { feed } from "./feed.ts";
import { inParallel } from "./in-parallel.ts";

/** The means of a maintainer besides the table. */
export interface Maintenance {
  /** When it must have ended, in milliseconds since the epoch. */
  readonly deadline: number;
  readonly limits?: Limits;
  readonly wait?: (milliseconds: number) => Promise<unknown>;
  /** Makes a call at the pace of the caller, which repeats it while the table is busy. */
  readonly paced?: Retry;
}

/** What a maintainer has done for a list. */
export interface Maintained {
  /** The rows whose records have to come again, the last ones of all. */
  readonly rest: readonly RowChange[];
  /** What the list was like after the last step; undefined if there was none. */
  readonly progress: Progress | undefined;
  /** The error that ended it before everything was counted, for which a retry does not help. */
  readonly error?: unknown;
}

/**
 * Updates the trees of a list for rows that were created, changed or deleted: first that of the whole list, then those of
 * the sublists that have or had changed rows, and then those that new rows are fed to. It retries until the deadline while
 * other commits come first or the table is busy; a damaged tree is emptied and counted again.
 *
 * @param rows in the order of the stream
 */
export async function maintainList(
  owner: CountedOwner,
  rows: readonly RowChange[],
  { deadline, limits = productionLimits, wait = setTimeout, paced }: Maintenance,
): Promise<Maintained> {
  const retry: Retry = paced ?? ((call) => withRetry(call, { deadline, isRetryable: isBusy, wait }));
  const means = { limits, retry };
  /** How often each tree was emptied. */
  const emptied = new Map<string, number>();
  /** Repeats a step on a tree while it says that more is left. @throws TooExpensiveError when the time is up */
  const repeat = async (step: () => Promise<boolean>) => {
    const attempt = async () => {
      try {
        return await step();
      } catch (error) {
        if (!(error instanceof DamagedTreeError)) throw error;
        const { pk } = treeKey(error.owner, "");
        const times = emptied.get(pk) ?? 0;
        if (times === mostEmptied) throw error;
        emptied.set(pk, times + 1);
        await emptyTree(error, means);
        return true;
      }
    };
    let isLeft = true;
    while (isLeft) {
      if (Date.now() >= deadline) throw new TooExpensiveError("too_slow", "The time of the list is up.");
      isLeft = await withRetry(attempt, { deadline, isRetryable: isTreeChanged, wait });
    }
  };
  const fillTree = (sublist: SublistOwner) => repeat(() => fill(sublist, means));
  let progress: Progress | undefined;
  let rest = rows;
  try {
    do {
      const part = rest.slice(0, rowsAtOnce);
      let changed: readonly string[] = part.flatMap(({ key, kind }) => (kind === "created" ? [] : key));
      await repeat(async () => {
        progress = await advance(owner, changed, means);
        changed = progress.rest;
        return changed.length > 0 || progress.more;
      });
      const { fed = "", expiresAt } = (progress as Progress | undefined)?.root ?? {};
      // The trees of an erased account stay away.
      if (expiresAt !== undefined) return { rest: [], progress };
      await inParallel(partBySublist(owner, part, fed), async ({ owner, isChanged, ...rows }) => {
        let sks: readonly string[] = rows.sks;
        await repeat(async () => {
          sks = await advanceSublist(owner, { sks, isChanged }, fed, means);
          return sks.length > 0;
        });
        await fillTree(owner);
      });
      rest = rest.slice(part.length);
    } while (rest.length > 0);
    await repeat(async () => {
      const { more, filling } = await feed(owner, means);
      await inParallel(filling, fillTree);
      return more;
    });
    return { rest: [], progress };
  } catch (error) {
    const isTimeUp = error instanceof TooExpensiveError || isTreeChanged(error);
    // To continue with the tail, the last record comes again.
    return { rest: rest.length > 0 ? rest : rows.slice(-1), progress, ...(!isTimeUp && { error }) };
  }
}

/** How often a tree is emptied at once: if it is damaged again and again, it is not the tree that is wrong. */
const mostEmptied = 10;

/** How many rows are counted before those that follow them in the stream: of a batch that is not finished, the rest comes again. */
const rowsAtOnce = 250;

/**
 * The rows of a batch that concern the tree of each sublist.
 *
 * @param fed rows that routes created from here on are fed
 */
function partBySublist({ account, list }: CountedOwner, rows: readonly RowChange[], fed: string) {
  const concerned = rows.filter(({ key, kind }) => kind === "changed" || key < fed);
  const origins = new Set(concerned.flatMap(({ origins }) => origins));
  return [...origins].map((origin) => {
    const own = concerned.filter((row) => row.origins.includes(origin));
    const isChanged = own.some(({ kind }) => kind === "changed");
    return { owner: { account, list, origin }, sks: own.map(({ key }) => key), isChanged };
  });
}
