import { type Retry, withRetry } from "../../../shared/dynamodb/retry.ts";
import { advanceSublist, type ChangedRow } from "../../../shared/pages/maintenance/advance-sublist.ts";
import type { CountedOwner, SublistOwner } from "../../../shared/pages/tree/counted-list.ts";
import { isTreeChanged, readRoot } from "../../../shared/pages/tree/tree-store.ts";
import { tableTime } from "../common/table-clock.ts";
import type { Reading } from "./all-rows.ts";

/** How long a commit is repeated while others come first, in milliseconds. */
const commitTimeout = 60_000;

/** How often to wait again for the rows of an import that goes on. */
const mostWaits = 20;

/** Sets changed rows in the tree of a sublist and counts its tail, commit by commit; makes the tree if the sublist is long. */
export async function completeSublist(
  owner: SublistOwner,
  changed: readonly ChangedRow[],
  { limits, pace, wait }: Reading,
): Promise<void> {
  let progress = { rest: changed, more: true };
  while (progress.more) {
    let units = 0;
    const retry: Retry = async (call) => {
      const response = await pace.retry(call);
      units += estimateUnits(response);
      return response;
    };
    const { rest } = progress;
    const step = () => advanceSublist(owner, { changed: rest, look: true }, { limits, retry });
    const deadline = Date.now() + commitTimeout;
    progress = await withRetry(step, { deadline, isRetryable: isTreeChanged, wait });
    await pace.spend(units);
  }
}

/** About the read units of a response: exact for a query of rows, one for each item of a batch. */
function estimateUnits(response: unknown): number {
  const { ConsumedCapacity } = (response ?? {}) as { ConsumedCapacity?: { CapacityUnits?: number } };
  const isBatch = Array.isArray(response) && response.some((item) => "pk" in item);
  return ConsumedCapacity?.CapacityUnits ?? (isBatch ? response.length : 1);
}

/**
 * Waits until the indexes have all back-dated rows of a list: those that were written before a time, in milliseconds since
 * the epoch, and those that maintainers counted. Until then nothing is counted from an index.
 *
 * @param onWait called once if it waits, with the milliseconds
 * @returns false when back-dated rows are still counted after many waits
 */
export async function waitForIndexes(
  owner: CountedOwner,
  writtenAt: number,
  { limits, pace, wait }: Reading,
  onWait: (milliseconds: number) => void = () => {},
): Promise<boolean> {
  for (let waits = 0; waits < mostWaits; waits++) {
    const { backdatedAt = 0 } = (await pace.retry(() => readRoot(owner))) ?? {};
    const last = Math.max(writtenAt, backdatedAt);
    // A maintainer's clock may be ahead, and a time in the same millisecond is too early.
    const left = last + limits.indexLateness + limits.skew + 1 - tableTime();
    if (left <= 0) return true;
    if (waits === 0) onWait(left);
    await wait(left);
  }
  return false;
}
