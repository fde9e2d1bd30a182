import type { Pace } from "../../../shared/dynamodb/pace.ts";
import { withRetry } from "../../../shared/dynamodb/retry.ts";
import { emptyTree } from "../../../shared/pages/maintain/empty-tree.ts";
import { type CountedOwner, countedLists } from "../../../shared/pages/tree/counted-list.ts";
import { emptied, emptyRoot, type Root } from "../../../shared/pages/tree/root.ts";
import { DamagedTreeError, isTreeChanged, readRoot } from "../../../shared/pages/tree/tree-store.ts";
import { tableTime } from "./table-clock.ts";

/** The lists of an account. */
export const countedOwners = (account: string): CountedOwner[] =>
  Object.values(countedLists).map((list) => ({ account, list }));

/**
 * Replaces a tree, until no other commit comes first. A damaged one is replaced by an empty one first.
 *
 * @param write commits a tree without rows, which takes its place
 */
export function replaceTree(
  owner: CountedOwner,
  pace: Pace,
  write: (tree: Root) => Promise<void>,
): Promise<void> {
  const step = async () => {
    const root = await readRoot(owner).catch(async (error: unknown) => {
      if (!(error instanceof DamagedTreeError)) throw error;
      await emptyTree(error, pace);
      return readRoot(owner);
    });
    const clock = tableTime();
    await write({ ...(root ? emptied(root, clock) : emptyRoot(clock)), fed: undefined });
  };
  const deadline = Number.POSITIVE_INFINITY;
  return withRetry(() => pace.retry(step), { deadline, isRetryable: isTreeChanged, wait: pace.wait });
}
