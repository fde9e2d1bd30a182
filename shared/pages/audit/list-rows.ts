import type { Pace } from "../../dynamodb/pace.ts";
import type { CountedOwner } from "../tree/counted-list.ts";
import { type Rows, readRows } from "../tree/rows.ts";

/** How the rows of a list are read. */
export interface Reading {
  readonly pace: Pace;
  /** Called with the number of rows of each page. */
  readonly onRows?: (rows: number) => void;
}

/** The most rows of a page; the table returns 1 MB at most. */
const pageRows = 10_000;

/** Reads the rows of a list from a sort key on, page by page and consistently. */
export async function* readAllRows(
  list: CountedOwner,
  start: string,
  { pace, onRows }: Reading,
): AsyncGenerator<Rows> {
  for (let from: string | undefined = start; from !== undefined; ) {
    const bounds = { start: from, maxRows: pageRows };
    const page: Rows = await pace.retry(() => readRows(list, bounds));
    await pace.spend(page.units);
    onRows?.(page.rows.length);
    yield page;
    from = page.next;
  }
}
