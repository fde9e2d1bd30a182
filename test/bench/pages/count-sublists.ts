import { forgetTails } from "../../../shared/pages/read/tail.ts";
import { type Call, metered, readUnits, writeUnits } from "../../support/meter.ts";
import { advanceClock } from "./clock.ts";
import { createdRecord } from "./items.ts";
import { batchSize, deliver } from "./maintainer.ts";
import type { MeasuredList } from "./measured-list.ts";
import { readPage } from "./read-list.ts";
import { type LeadRow, limit } from "./rows.ts";
import { chunks } from "./write-rows.ts";

/** How many of a list's newest rows a round delivers: the maintainer looks at the list of one row in 20. */
const rowsEach = 40;

/** How many rounds there are at least, so that surely one such row of each list comes, and at most. */
const fewest = 4;
const most = 1000;

/** The time between rounds, in milliseconds: longer than a row may be late in an index. */
const apart = 60_000;

/** The most units of a page of a counted list. */
const countedUnits = 17;

/** What it cost to count lists. */
export interface Counting {
  readonly rounds: number;
  readonly read: number;
  readonly write: number;
  readonly seconds: number;
}

/** Counts all rows of an account: delivers the newest of them to the maintainer. */
export const countAll = (account: string, rows: readonly LeadRow[]): Promise<void> =>
  deliver(rows.slice(-batchSize).map((row) => createdRecord(account, row)));

/** Delivers the newest rows of lists to the maintainer, which counts the long ones, until none costs much to read. */
export async function countSublists(lists: readonly MeasuredList[]): Promise<Counting> {
  const calls: Call[] = [];
  let seconds = 0;
  let rounds = 0;
  for (let counted = false; rounds < fewest || (!counted && rounds < most); rounds++) {
    const records = lists.flatMap((list) =>
      newest(list.rows(), rounds).map((row) => createdRecord(list.account, row)),
    );
    for (const batch of chunks(records, batchSize)) {
      const round = await metered(() => deliver(batch));
      calls.push(...round.calls);
      seconds += round.milliseconds / 1000;
    }
    advanceClock(apart);
    counted = await areCounted(lists);
  }
  return { rounds, read: readUnits(calls), write: writeUnits(calls), seconds };
}

/** Other rows in each round, and the same again when a list has no more. */
function newest(rows: readonly LeadRow[], round: number): readonly LeadRow[] {
  const end = rows.length - ((round * rowsEach) % Math.max(rows.length, 1));
  return rows.slice(Math.max(0, end - rowsEach), end);
}

/** Whether the middle page of each list costs no more than one of a counted list, to one who remembers nothing. */
async function areCounted(lists: readonly MeasuredList[]): Promise<boolean> {
  for (const list of lists) {
    const middle = Math.max(1, Math.ceil(list.rows().length / limit / 2));
    forgetTails();
    const { refused, calls } = await readPage(list, middle);
    if (refused || readUnits(calls) > countedUnits) return false;
  }
  return true;
}
