import { withRetry } from "../../../shared/dynamodb/retry.ts";
import { advance, furthestWatermark } from "../../../shared/pages/maintain/advance.ts";
import type { CountedOwner } from "../../../shared/pages/tree/counted-list.ts";
import { sumEntry } from "../../../shared/pages/tree/entry.ts";
import { emptyRoot } from "../../../shared/pages/tree/root.ts";
import { cellNumber, learnStatus, noStatuses, type Statuses } from "../../../shared/pages/tree/statuses.ts";
import { isTreeChanged, readRoot } from "../../../shared/pages/tree/tree-store.ts";
import { UserError } from "../../errors.ts";
import type { Pace } from "../common/pace.ts";
import { tableTime } from "../common/table-clock.ts";
import { countedRows, countRows, type Reading, readAllRows, toReading } from "./all-rows.ts";
import { finishRebuild, readRebuild, startRebuild } from "./rebuild-roots.ts";
import { deleteOldNodes } from "./tree-items.ts";

/** How long a list request may still read the old tree after it was replaced, in milliseconds. */
export const longestRequest = 60_000;

/** How long to wait before the next step while another maintainer's clock is ahead, in milliseconds. */
const clockDelay = 500;

/** The most rows of a commit: about a page, so that few commits of maintainers come between its reads and its write. */
const commitRows = 1000;

/**
 * Rebuilds the tree of a list while it is read and written, or continues a rebuild that has not ended. The new tree is
 * compact, and has cells for the most frequent statuses. Until it replaces the old tree, maintainers keep both up
 * to date.
 *
 * Several rebuilds of a list count into the same tree, and all of them end.
 */
export async function rebuild(owner: CountedOwner, options: Partial<Reading> = {}): Promise<void> {
  const reading = toReading(options);
  const statuses = await findStatuses(owner, reading);
  if (!statuses) return;
  const generation = await retryStep(() => joinRebuild(owner, statuses, reading), reading);
  while (!(await retryStep(() => growTree(owner, generation, reading), reading)));
  await reading.wait(longestRequest);
  await deleteOldNodes(owner, reading.pace);
}

/** Repeats a step without end while other commits come first or the table throttles it. */
export const retryStep = <T>(step: () => Promise<T>, { pace, wait }: Reading): Promise<T> =>
  withRetry(() => pace.retry(step), {
    deadline: Number.POSITIVE_INFINITY,
    isRetryable: isTreeChanged,
    wait,
  });

/** The number of rows that a rebuild reads at most, with those that are read again for the sublists. */
export async function planRebuild(owner: CountedOwner, pace: Pace): Promise<number> {
  const { live, next } = await pace.retry(() => readRebuild(owner));
  const rows = await countRows([owner], pace);
  return live && (next || !live.statuses.full) ? 2 * rows : 3 * rows;
}

/** The statuses of a new tree, the most frequent first; undefined for a list without rows. */
async function findStatuses(owner: CountedOwner, reading: Reading): Promise<Statuses | undefined> {
  const { live, next } = await reading.pace.retry(() => readRebuild(owner));
  if (next) return next.statuses;
  const frequencies = new Map<string, number>();
  if (live && !live.statuses.full) {
    const cells = sumEntry([...live.entries, live.last]).cells;
    for (const status of live.statuses.names)
      frequencies.set(status, cells.get(cellNumber(live.statuses, status)) ?? 0);
  } else {
    for await (const rows of readAllRows(owner, { start: "" }, reading))
      for (const { status } of rows) frequencies.set(status, (frequencies.get(status) ?? 0) + 1);
    if (frequencies.size === 0 && !live) return undefined;
  }
  return [...frequencies]
    .filter(([, rows]) => rows > 0)
    .sort(([, a], [, b]) => b - a)
    .reduce((statuses, [status]) => learnStatus(statuses, status), noStatuses);
}

/** Continues a rebuild or starts one. @returns the generation of its tree */
async function joinRebuild(owner: CountedOwner, statuses: Statuses, { onRows }: Reading): Promise<number> {
  const { live = emptyRoot(tableTime()), next, found } = await readRebuild(owner);
  if (!next) return startRebuild(owner, live, found, statuses);
  onRows(countedRows(next));
  return next.generation;
}

/** Counts more rows into the new tree, and replaces the old tree when all are counted. @returns whether it is replaced */
async function growTree(
  owner: CountedOwner,
  generation: number,
  { limits, pace, wait, onRows }: Reading,
): Promise<boolean> {
  const { live, next } = await readRebuild(owner);
  const clock = tableTime();
  // Another rebuild replaced the tree, or an earlier attempt did and its response was lost.
  if (live && live.generation >= generation) return true;
  if (next?.generation !== generation || !live)
    throw new UserError("The tree of this rebuild has been replaced: run the command again.");
  let unpaid = 0;
  const onPage = async (units: number) => {
    // The last page is paid for after the commit, so that the commit follows its read at once.
    await pace.spend(unpaid);
    unpaid = units;
  };
  const { more, counted } = await advance(
    owner,
    { ...next, progressAt: clock },
    {
      ...{ name: "next", clock, keys: [], tail: true, always: true, reading: { retry: pace.retry, onPage } },
      limits: { ...limits, rangeRows: Math.min(limits.rangeRows, commitRows) },
    },
  ).finally(() => pace.spend(unpaid));
  onRows(counted);
  if (more) return false;
  const grown = await pace.retry(() => readRoot(owner, "next"));
  if (grown?.generation !== generation || grown.pending.length > 0) return false;
  // Rows that a maintainer with a faster clock has counted stay counted, unless its clock is wrong.
  if (grown.watermark < live.watermark && live.watermark <= furthestWatermark(owner, clock, limits)) {
    await wait(clockDelay);
    return false;
  }
  await pace.retry(() => finishRebuild(owner, live, grown));
  return true;
}
