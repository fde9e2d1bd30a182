import { indexes, type Sublist, sublistIndexes } from "../../../../shared/dynamodb/keys.ts";
import type { Item } from "../../../../shared/dynamodb/table-client.ts";
import {
  type CountedRow,
  countedRow,
  type SublistOwner,
} from "../../../../shared/pages/tree/counted-list.ts";

const identity = ({ index, partition }: Sublist) => `${index} ${partition}`;

/**
 * The rows of a list by sublist, as they were read from the whole list: the rows themselves for the sublists that have
 * trees, and their number for the others. A million rows take about 150 MB, because statuses are kept once.
 */
export class CollectedRows {
  /** The sort key at which the rows end. */
  readonly end: string;
  readonly #rows: ReadonlyMap<string, CountedRow[]>;
  readonly #others = new Map<string, { readonly sublist: Sublist; rows: number }>();
  readonly #statuses = new Map<string, string>();

  /** @param end the sort key at which the rows end: later rows may be written when they have been read */
  constructor(sublists: readonly SublistOwner[], end: string) {
    this.end = end;
    this.#rows = new Map(sublists.map(({ sublist }) => [identity(sublist), []]));
  }

  /** Adds items as `onItems` of `readRows` has them. @param others whether rows of other sublists are counted */
  add(items: readonly Item[], others = false): void {
    for (const item of items) {
      const row = this.#toRow(item);
      if (row.sk >= this.end) continue;
      for (const index of sublistIndexes) {
        const partition = item[indexes[index]];
        if (partition === undefined) continue;
        const sublist = { index, partition: String(partition) };
        const rows = this.#rows.get(identity(sublist));
        if (rows) rows.push(row);
        else if (others) this.#count(sublist);
      }
    }
  }

  /** The rows of a sublist in order, each once. */
  rows({ sublist }: SublistOwner): readonly CountedRow[] {
    const rows = this.#rows.get(identity(sublist)) ?? [];
    // Pages that were read in parallel come in any order, and their edges may come twice.
    rows.sort((a, b) => (a.sk < b.sk ? -1 : Number(a.sk > b.sk)));
    return rows.filter(({ sk }, index) => sk !== rows[index + 1]?.sk);
  }

  /** The sublists without trees that have more rows than these. */
  longerThan(most: number): Sublist[] {
    return [...this.#others.values()].filter(({ rows }) => rows > most).map(({ sublist }) => sublist);
  }

  #toRow(item: Item): CountedRow {
    const { sk, status } = countedRow(item);
    const known = this.#statuses.get(status) ?? status;
    this.#statuses.set(known, known);
    return { sk, status: known };
  }

  #count(sublist: Sublist): void {
    const other = this.#others.get(identity(sublist)) ?? { sublist, rows: 0 };
    other.rows++;
    this.#others.set(identity(sublist), other);
  }
}

/** The rows from a sort key to before another, of rows in order. */
export const sliceRows = (rows: readonly CountedRow[], start: string, end: string) =>
  rows.slice(firstAt(rows, start), firstAt(rows, end));

/** The index of the first row at or after a sort key. */
function firstAt(rows: readonly CountedRow[], sk: string): number {
  let low = 0;
  for (let high = rows.length; low < high; ) {
    const middle = (low + high) >>> 1;
    if ((rows[middle]?.sk ?? "") < sk) low = middle + 1;
    else high = middle;
  }
  return low;
}
