import { countedLists } from "../../../shared/pages/tree/counted-list.ts";
import { waitForIndexes } from "../counts/advance-sublist.ts";
import { toReading } from "../counts/all-rows.ts";
import { repairSublists } from "../counts/repair-sublists.ts";
import type { Pace } from "../pace.ts";
import type { Wait } from "../retry-while-busy.ts";

/**
 * Counts the rows of an import in the lists of their sources, channels, leads and email addresses. The maintainers count
 * them in the whole lists.
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
