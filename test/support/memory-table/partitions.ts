import type { Item } from "../../../shared/dynamodb/table-client.ts";

/** A stored item, with its primary key and its size in bytes. */
export interface Row {
  readonly pk: string;
  readonly sk: string;
  readonly item: Item;
  readonly size: number;
}

/** The order of rows in a partition: by sort key and, in an index, then by the partition of the table. */
type Position = Pick<Row, "pk" | "sk">;

/** The rows of a table or of an index by partition, each partition in order. */
export class Partitions {
  #rows = new Map<string, Row[]>();

  /** The rows of a partition, which the caller must not change. */
  get(partition: string): readonly Row[] {
    return this.#rows.get(partition) ?? [];
  }

  find(partition: string, position: Position): Row | undefined {
    const rows = this.get(partition);
    const row = rows[firstAt(rows, position)];
    return row && isAt(row, position) ? row : undefined;
  }

  put(partition: string, row: Row): void {
    const rows = this.#rows.get(partition) ?? [];
    this.#rows.set(partition, rows);
    const last = rows.at(-1);
    // Rows mostly come in order.
    if (!last || isBefore(last, row)) {
      rows.push(row);
      return;
    }
    const index = firstAt(rows, row);
    const same = rows[index];
    if (same && isAt(same, row)) rows[index] = row;
    else rows.splice(index, 0, row);
  }

  delete(partition: string, position: Position): void {
    const rows = this.#rows.get(partition);
    if (!rows) return;
    const index = firstAt(rows, position);
    const row = rows[index];
    if (!row || !isAt(row, position)) return;
    if (rows.length === 1) this.#rows.delete(partition);
    else rows.splice(index, 1);
  }

  /** All rows, partition by partition in the order of their first rows' arrival. */
  *all(): Iterable<Row> {
    for (const rows of this.#rows.values()) yield* rows;
  }

  /** A copy of the partitions. Later changes of either do not affect the other. */
  copy(): Partitions {
    const copy = new Partitions();
    for (const [partition, rows] of this.#rows) copy.#rows.set(partition, rows.slice());
    return copy;
  }
}

/** The index of the first row at a position or after it. */
export const firstAt = (rows: readonly Row[], position: Position) =>
  firstIndex(rows, (row) => !isBefore(row, position));

/** The index of the first row after a position. */
export const firstAfter = (rows: readonly Row[], position: Position) =>
  firstIndex(rows, (row) => isBefore(position, row));

/** The index of the first row for which a condition holds. It must also hold for all later rows. */
export function firstIndex(rows: readonly Row[], holds: (row: Row) => boolean): number {
  let low = 0;
  for (let high = rows.length; low < high; ) {
    const middle = (low + high) >>> 1;
    if (holds(rows[middle] as Row)) high = middle;
    else low = middle + 1;
  }
  return low;
}

const isBefore = (a: Position, b: Position) => a.sk < b.sk || (a.sk === b.sk && a.pk < b.pk);
export const isAt = (a: Position, b: Position) => a.sk === b.sk && a.pk === b.pk;
