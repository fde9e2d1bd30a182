import { setTimeout } from "node:timers/promises";
import type { Item } from "../../../shared/dynamodb/table-client.ts";
import type { CountedOwner, CountedRow } from "../../../shared/pages/tree/counted-list.ts";
import { countEntries } from "../../../shared/pages/tree/entry.ts";
import type { Root } from "../../../shared/pages/tree/root.ts";
import { type Rows, readRows } from "../../../shared/pages/tree/rows.ts";
import { limits as deployedLimits, type Limits } from "../../../shared/pages/tree/tree-limits.ts";
import { readRoot } from "../../../shared/pages/tree/tree-store.ts";
import { Pace, type Wait } from "../common/pace.ts";

/** How a command reads a list. */
export interface Reading {
  readonly limits: Limits;
  readonly pace: Pace;
  readonly wait: Wait;
  /** Called with the number of rows after each read. */
  readonly onRows: (rows: number) => void;
  /** Called with the items of each read, with the partitions of their sublists. */
  readonly onItems?: ((items: readonly Item[]) => void) | undefined;
}

/** Adds the defaults. */
export function toReading({ wait = setTimeout, ...options }: Partial<Reading>): Reading {
  return { limits: deployedLimits, pace: new Pace(undefined, wait), wait, onRows: () => {}, ...options };
}

/** Reads each page when the pace allows it. */
export const paced = (pace: Pace) => ({
  retry: pace.retry,
  onPage: (units: number) => pace.spend(units),
});

/** Reads the rows from a sort key to before another (without it, to the end of the list), part by part. */
export async function* readAllRows(
  owner: CountedOwner,
  { start, end }: { readonly start: string; readonly end?: string },
  { limits, pace, onRows, onItems }: Reading,
): AsyncGenerator<readonly CountedRow[]> {
  for (let from: string | undefined = start; from !== undefined; ) {
    const part: Rows = await readRows(
      owner,
      { start: from, end },
      { ...paced(pace), maxRows: limits.rangeRows, onItems },
    );
    onRows(part.rows.length);
    yield part.rows;
    from = part.next;
  }
}

/** The number of rows that a tree counts. */
export const countedRows = ({ entries, last }: Root) => countEntries([...entries, last]);

/** The number of rows of lists: those that their trees count, and those of their tails. */
export async function countRows(owners: readonly CountedOwner[], pace: Pace): Promise<number> {
  let total = 0;
  for (const owner of owners) {
    const root = await pace.retry(() => readRoot(owner));
    if (root) total += countedRows(root);
    const tail = readAllRows(owner, { start: root?.watermark ?? "" }, toReading({ pace }));
    for await (const rows of tail) total += rows.length;
  }
  return total;
}
