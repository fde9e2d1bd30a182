import type { Pace } from "../../../shared/dynamodb/pace.ts";
import type { Retry } from "../../../shared/dynamodb/retry.ts";
import { type Reading, readAllRows } from "../../../shared/pages/audit/read-list.ts";
import type { CountedOwner } from "../../../shared/pages/tree/counted-list.ts";
import { countEntries } from "../../../shared/pages/tree/entry.ts";
import type { Root } from "../../../shared/pages/tree/root.ts";
import type { Rows } from "../../../shared/pages/tree/rows.ts";
import { readAnyRoot } from "../../../shared/pages/tree/tree-store.ts";

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
    const root = await pace.retry(() => readAnyRoot(owner));
    if (root) total += countedRows(root);
    for await (const { rows } of readAllRows(owner, root?.watermark ?? "", { pace })) total += rows.length;
  }
  return total;
}
