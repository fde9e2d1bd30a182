import { sourceOrChannelPartition } from "../../../shared/dynamodb/keys.ts";
import { countedLists } from "../../../shared/pages/tree/counted-list.ts";
import { limits } from "../../../shared/pages/tree/tree-limits.ts";
import type { Pace, Wait } from "../common/pace.ts";
import { completeSublist, waitForIndexes } from "./advance-sublist.ts";
import { toReading } from "./all-rows.ts";
import { repairSublists } from "./rebuild/repair-sublists.ts";

/**
 * Counts the rows of an import in the lists of their sources and channels. The maintainers count them in the whole lists.
 *
 * @param print called with a line if the indexes need time
 */
export async function countImported(
  account: string,
  { pace, wait, print }: { readonly pace: Pace; readonly wait: Wait; readonly print: (line: string) => void },
): Promise<void> {
  const reading = toReading({ pace, wait });
  const onWait = (milliseconds: number) =>
    print(`Waiting ${Math.ceil(milliseconds / 1000)} seconds for the indexes, then counting the rows.`);
  const importedAt = Date.now();
  for (const list of Object.values(countedLists)) {
    const owner = { account, list };
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
 * @param print called with a line if the indexes need time
 */
export async function countSources(
  account: string,
  sources: ReadonlyMap<string, number>,
  {
    writtenAt,
    wait,
    print,
  }: {
    readonly writtenAt: number;
    readonly wait: Wait;
    readonly print: (line: string) => void;
  },
): Promise<void> {
  const list = countedLists.lead;
  const reading = toReading({ wait });
  const many = [...sources].filter(([, rows]) => rows >= limits.manyRows);
  if (many.length === 0) return;
  const onWait = (milliseconds: number) =>
    print(
      `Waiting ${Math.ceil(milliseconds / 1000)} seconds, then counting the rows in the lists of their sources.`,
    );
  if (!(await waitForIndexes({ account, list }, writtenAt, reading, onWait))) return;
  for (const [source] of many) {
    const partition = sourceOrChannelPartition(list.type, account, source);
    await completeSublist({ account, list, sublist: { index: "by-origin", partition } }, [], reading);
  }
}
