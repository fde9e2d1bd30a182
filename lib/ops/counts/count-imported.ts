import { sourceOrChannelPartition } from "../../../shared/dynamodb/keys.ts";
import { type CountedList, countedLists } from "../../../shared/pages/tree/counted-list.ts";
import { limits } from "../../../shared/pages/tree/tree-limits.ts";
import type { Pace, Wait } from "../common/pace.ts";
import { toReading } from "./all-rows.ts";
import { completeSublist, waitForIndexes } from "./repair-sublists.ts";

/** The number of rows that an import has met of each source and channel, by the type of their list. */
export type ImportedRows = Readonly<Record<CountedList["type"], Map<string, number>>>;

/**
 * Counts the rows of an import in the lists of their sources and channels. Maintainers do it with the next new row of one, but
 * not before the indexes have all imported rows; they do it all if other imports go on.
 *
 * @param writtenAt when the last row was written, in milliseconds since the epoch; 0 if none was
 * @param print called with a line if the indexes need time
 */
export async function countImported(
  account: string,
  rows: ImportedRows,
  {
    writtenAt,
    pace,
    wait,
    print,
  }: {
    readonly writtenAt: number;
    readonly pace: Pace;
    readonly wait: Wait;
    readonly print: (line: string) => void;
  },
): Promise<void> {
  const reading = toReading({ pace, wait });
  const onWait = (milliseconds: number) => {
    const seconds = Math.ceil(milliseconds / 1000);
    print(`Waiting ${seconds} seconds, then counting the rows in the lists of their sources and channels.`);
  };
  for (const list of Object.values(countedLists)) {
    const many = [...rows[list.type]].filter(([, number]) => number >= limits.manyRows);
    if (many.length === 0 || !(await waitForIndexes({ account, list }, writtenAt, reading, onWait))) continue;
    for (const [name] of many) {
      const partition = sourceOrChannelPartition(list.type, account, name);
      await completeSublist({ account, list, sublist: { index: "by-origin", partition } }, reading);
    }
  }
}
