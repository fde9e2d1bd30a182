import type { Pace } from "../../../shared/dynamodb/pace.ts";
import type { Retry } from "../../../shared/dynamodb/retry.ts";
import type { CountedOwner } from "../../../shared/pages/tree/counted-list.ts";
import { countEntries } from "../../../shared/pages/tree/entry.ts";
import type { Root } from "../../../shared/pages/tree/root.ts";
import { type Rows, readRows } from "../../../shared/pages/tree/rows.ts";
import { readRoot } from "../../../shared/pages/tree/tree-store.ts";
import type { OnRows } from "../common/progress.ts";

/** How a command reads and counts lists. */
export interface Reading {
  readonly pace: Pace;
  readonly onRows?: OnRows;
}

/** The means of a maintainer that goes on until all is counted, at the pace of a command. */
export const toMaintenance = ({ pace, onRows = () => {} }: Reading) => ({
  deadline: Number.POSITIVE_INFINITY,
  wait: pace.wait,
  paced: (async (call) => {
    const response = await pace.retry(call);
    const { units = 1, rows = [] } = (response ?? {}) as Partial<Rows>;
    onRows(rows.length);
    await pace.spend(units);
    return response;
  }) satisfies Retry as Retry,
});

/** The number of rows that a tree counts. */
export const countedRows = ({ entries, last }: Root) => countEntries(entries) + countEntries(last);

/** The number of rows of lists: those that their trees count, and those of their tails. */
export async function countRows(owners: readonly CountedOwner[], pace: Pace): Promise<number> {
  let total = 0;
  for (const owner of owners) {
    const root = await pace.retry(() => readRoot(owner));
    if (root) total += countedRows(root);
    for (let start: string | undefined = root?.watermark ?? ""; start !== undefined; ) {
      const from: string = start;
      const tail: Rows = await pace.retry(() => readRows(owner, { start: from, maxRows: 10_000 }));
      await pace.spend(tail.units);
      total += tail.rows.length;
      start = tail.next;
    }
  }
  return total;
}
