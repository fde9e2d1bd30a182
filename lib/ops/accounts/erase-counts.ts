import { readRoot } from "../../../shared/pages/tree/tree-store.ts";
import { UserError } from "../../errors.ts";
import { countedOwners } from "../counts/all-owners.ts";
import { countedRows } from "../counts/rebuild-roots.ts";
import { readSublists } from "../counts/tree-items.ts";
import { dropSublist, dropTree } from "../erasure/drop-trees.ts";
import type { Pace } from "../pace.ts";
import type { Wait } from "../retry-while-busy.ts";

/** How long to wait for the stream, in milliseconds, and how often to look. */
const streamTimeout = 600_000;
const pollDelay = 2000;

/** How often nothing must be left in a row, three seconds apart, because the last records of the stream may bring a tree back. */
const cleanChecks = 3;
const checkDelay = 3000;

/**
 * Deletes the counts of an account without rows, when the maintainers have counted the deletions: a deletion that comes
 * later would make another tree.
 *
 * @throws UserError when the stream does not deliver the deletions
 */
export async function eraseCounts(account: string, pace: Pace, wait: Wait): Promise<void> {
  const owners = countedOwners(account);
  for (const owner of owners) {
    for (let waited = 0; ; waited += pollDelay) {
      const root = await pace.retry(() => readRoot(owner));
      if (!root || countedRows(root) === 0) break;
      if (waited >= streamTimeout)
        throw new UserError(
          `The rows of the account ${account} are erased, but not yet its counts, because the stream is late: run the command again later.`,
        );
      await wait(pollDelay);
    }
  }
  for (let clean = 0; clean < cleanChecks; ) {
    let items = 0;
    for (const owner of owners) {
      for (const sublist of await readSublists(owner, pace)) await dropSublist(sublist, pace);
      items += await dropTree(owner, pace);
    }
    clean = items === 0 ? clean + 1 : 0;
    if (clean < cleanChecks) await wait(checkDelay);
  }
}
