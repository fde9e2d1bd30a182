import type { Sublist } from "../../../shared/dynamodb/keys.ts";
import { type Retry, withRetry } from "../../../shared/dynamodb/retry.ts";
import type { Item } from "../../../shared/dynamodb/table-client.ts";
import { advanceSublist } from "../../../shared/pages/maintain/advance-sublist.ts";
import type { CountedOwner, SublistOwner } from "../../../shared/pages/tree/counted-list.ts";
import { emptyRoot } from "../../../shared/pages/tree/root.ts";
import { commit, isTreeChanged, readRoot } from "../../../shared/pages/tree/tree-store.ts";
import { tableTime } from "../common/table-clock.ts";
import { type Reading, toReading } from "./all-rows.ts";
import { longestRequest, retryStep } from "./rebuild.ts";
import { deleteOldNodes, readSublists } from "./tree-items.ts";
import { findDifferences, sublistName, sublistsOf } from "./verify.ts";

/** How long a commit is repeated while others come first, in milliseconds. */
const commitTimeout = 60_000;

/** How often to wait again for the rows of an import that goes on. */
const mostWaits = 20;

/**
 * Corrects the trees of the sublists of a list, and makes those that are missing. It reads all rows of the list once. What it
 * has done remains if it is ended, and the next one does the rest.
 *
 * A tree that keeps to differ from the rows is emptied and counted again: until that is done, its lists read the rows that it
 * does not count.
 */
export async function repairSublists(owner: CountedOwner, options: Partial<Reading> = {}): Promise<void> {
  const reading = toReading(options);
  const { limits, pace, wait } = reading;
  // A tree that a maintainer has just made for back-dated rows, such as those of a backfill, cannot be counted before.
  await waitForIndexes(owner, 0, reading);
  const sublists = await readSublists(owner, pace);
  const lengths = new Map<string, { readonly sublist: Sublist; readonly rows: number }>();
  const onItems = (items: readonly Item[]) => {
    for (const sublist of items.flatMap(sublistsOf)) {
      const { rows = 0 } = lengths.get(sublistName(sublist)) ?? {};
      lengths.set(sublistName(sublist), { sublist, rows: rows + 1 });
    }
  };
  const differing = await findDifferences(owner, sublists, { ...reading, onItems });
  const emptied = sublists.filter((sublist) => differing.has(sublist));
  for (const sublist of sublists) {
    if (differing.has(sublist)) await retryStep(() => emptyTree(sublist), reading);
    await completeSublist(sublist, reading);
  }
  for (const { sublist } of sublists) lengths.delete(sublistName(sublist));
  const long = [...lengths.values()].filter(({ rows }) => rows > limits.sublistRows);
  const missing = long.map(({ sublist }) => ({ ...owner, sublist }));
  for (const sublist of missing) await completeSublist(sublist, reading);
  const made = [...emptied, ...missing];
  if (made.length > 0) await wait(limits.indexLateness + limits.skew + 1);
  // Back-dated rows that came before their trees are in the index now.
  for (const sublist of made) await completeSublist(sublist, reading);
  if (emptied.length > 0) await wait(longestRequest);
  for (const sublist of emptied) await deleteOldNodes(sublist, pace);
}

/** Begins the tree again, with another generation of nodes: all rows are its tail, and the watermark has to pass them. */
async function emptyTree(owner: SublistOwner): Promise<void> {
  const root = await readRoot(owner);
  if (!root) return;
  const { version, generation } = root;
  const now = tableTime();
  const empty = { ...emptyRoot(generation + 1), version, createdAt: now, changedAt: now, overdue: true };
  await commit(owner, "root", empty, []);
}

/** Counts the tail of a sublist, commit by commit; makes its tree if it is long. */
export async function completeSublist(owner: SublistOwner, { limits, pace, wait }: Reading): Promise<void> {
  for (let more = true; more; ) {
    let units = 0;
    const retry: Retry = async (call) => {
      const response = await pace.retry(call);
      units += estimateUnits(response);
      return response;
    };
    const step = () => advanceSublist(owner, { changed: [], look: true }, { limits, retry });
    const deadline = Date.now() + commitTimeout;
    ({ more } = await withRetry(step, { deadline, isRetryable: isTreeChanged, wait }));
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
