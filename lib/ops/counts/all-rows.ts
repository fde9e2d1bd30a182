import type { CountedRow } from "../../../shared/pages/tree/counted-list.ts";
import { type Rows, readRows } from "../../../shared/pages/tree/rows.ts";
import type { Limits } from "../../../shared/pages/tree/tree-limits.ts";
import type { CountedOwner } from "../../../shared/pages/tree/tree-store.ts";
import { retryWhileBusy, type Wait } from "../retry-while-busy.ts";

/** How a command reads the rows of a list. */
export interface Reading {
  readonly limits: Limits;
  readonly wait: Wait;
  /** Called with the number of rows after each read. */
  readonly onRows: (rows: number) => void;
}

/** Reads the rows from a sort key to before another (without it, to the end of the list), part by part. */
export async function* readAllRows(
  owner: CountedOwner,
  { start, end }: { readonly start: string; readonly end?: string },
  { limits, wait, onRows }: Reading,
): AsyncGenerator<readonly CountedRow[]> {
  for (let from: string | undefined = start; from !== undefined; ) {
    const range = { start: from, end };
    const part: Rows = await retryWhileBusy(
      () => readRows(owner, range, { maxRows: limits.rangeRows }),
      wait,
    );
    onRows(part.rows.length);
    yield part.rows;
    from = part.next;
  }
}
