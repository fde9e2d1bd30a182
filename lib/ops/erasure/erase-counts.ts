import type { Key } from "../../../shared/dynamodb/table-client.ts";
import { type CountedOwner, keyAt } from "../../../shared/pages/tree/counted-list.ts";
import { emptyRoot } from "../../../shared/pages/tree/root.ts";
import { limits } from "../../../shared/pages/tree/tree-limits.ts";
import { commit, readRoot, treeKey } from "../../../shared/pages/tree/tree-store.ts";
import { UserError } from "../../errors.ts";
import { hasItems } from "../accounts/account-items.ts";
import type { Pace, Wait } from "../common/pace.ts";
import { inPartition, keysOnly, queryItems } from "../common/read-items.ts";
import { tableTime } from "../common/table-clock.ts";
import { deleteItems } from "../common/write-items.ts";
import { countedOwners } from "../counts/all-owners.ts";
import { toReading } from "../counts/all-rows.ts";
import { retryStep } from "../counts/rebuild/rebuild.ts";
import { readSublists } from "../counts/tree-items.ts";
import { dropSublist } from "./drop-trees.ts";

/** How long the empty roots stay, in seconds: longer than the stream can have a deletion that is not counted. */
const retention = 48 * 3600;

/**
 * Deletes the counts of an account whose rows are deleted. Two empty roots stay until they expire, one for each list: a
 * deletion that is counted later finds them, and does not make another tree.
 *
 * @throws UserError when a list has rows again
 */
export async function eraseCounts(account: string, pace: Pace, wait: Wait): Promise<void> {
  for (const owner of countedOwners(account)) {
    for (const sublist of await readSublists(owner, pace)) await dropSublist(sublist, pace);
    await retryStep(() => emptyTree(owner, pace), toReading({ pace, wait }));
    const { pk, sk: root } = treeKey(owner, "root");
    for await (const keys of queryItems({ ...inPartition(pk), ...keysOnly }, pace))
      await deleteItems(
        (keys as unknown as readonly Key[]).filter(({ sk }) => sk !== root),
        pace,
      );
  }
}

/** Replaces a tree, or none, by an empty one that expires. */
async function emptyTree(owner: CountedOwner, pace: Pace): Promise<void> {
  const { account, list } = owner;
  const { version = 0, generation = 0, rebuilding = generation } = (await readRoot(owner)) ?? {};
  // Read after the root and before the rows, as for every commit.
  const clock = tableTime();
  if (await hasItems(account, [list.type], pace))
    throw new UserError(
      `The account ${account} was written to while it was erased: run the command again, with the authorizerCacheSeconds of its stage as --cache-seconds.`,
    );
  await commit(
    owner,
    "root",
    {
      ...emptyRoot(rebuilding + 1),
      version,
      // Lists forget what they remember of the deleted rows.
      watermark: keyAt(list, clock - limits.allowedLateness),
      expiresAt: Math.ceil(clock / 1000) + retention,
    },
    [],
  );
}
