import { sourceOrChannelPartition } from "../../../shared/dynamodb/keys.ts";
import { countedLists } from "../../../shared/pages/tree/counted-list.ts";
import { limits } from "../../../shared/pages/tree/tree-limits.ts";
import type { Pace, Wait } from "../common/pace.ts";
import { countedOwners } from "./all-owners.ts";
import { toReading } from "./all-rows.ts";
import { completeSublist, repairSublists, waitForIndexes } from "./repair-sublists.ts";

/** What counting an import needs besides the table. */
interface Counting {
  readonly wait: Wait;
  /** Called with a line if the indexes need time. */
  readonly print: (line: string) => void;
}

/** Counts the rows of an import in the lists of their sources and channels. The maintainers count them in the whole lists. */
export async function countImported(
  account: string,
  { pace, wait, print }: Counting & { readonly pace: Pace },
): Promise<void> {
  const reading = toReading({ pace, wait });
  const onWait = (milliseconds: number) =>
    print(`Waiting ${toSeconds(milliseconds)} seconds for the indexes, then counting the rows.`);
  const importedAt = Date.now();
  for (const owner of countedOwners(account)) {
    await waitForIndexes(owner, importedAt, reading, onWait);
    await repairSublists(owner, reading);
  }
}

/**
 * Counts the rows of an import in the lists of their sources. Maintainers do it with the next new lead of a source, but not
 * before the indexes have all imported rows; they do it all if other imports go on.
 *
 * @param sources the number of imported rows of each source
 * @param writtenAt when the last row was written, in milliseconds since the epoch; 0 if none was
 */
export async function countSources(
  account: string,
  sources: ReadonlyMap<string, number>,
  { writtenAt, wait, print }: Counting & { readonly writtenAt: number },
): Promise<void> {
  const list = countedLists.lead;
  const reading = toReading({ wait });
  const many = [...sources].filter(([, rows]) => rows >= limits.manyRows);
  if (many.length === 0) return;
  const onWait = (milliseconds: number) =>
    print(
      `Waiting ${toSeconds(milliseconds)} seconds, then counting the rows in the lists of their sources.`,
    );
  if (!(await waitForIndexes({ account, list }, writtenAt, reading, onWait))) return;
  for (const [source] of many) {
    const partition = sourceOrChannelPartition(list.type, account, source);
    await completeSublist({ account, list, sublist: { index: "by-origin", partition } }, reading);
  }
}

const toSeconds = (milliseconds: number) => Math.ceil(milliseconds / 1000);
