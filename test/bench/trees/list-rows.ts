import { filteredRange } from "../../../shared/pages/counted-range.ts";
import { countedLists, type Filter } from "../../../shared/pages/tree/counted-list.ts";
import type { Statuses } from "../../../shared/pages/tree/statuses.ts";
import type { SyntheticRows } from "./rows.ts";
import type { RowPartition } from "./simulated-table.ts";

/** The list whose pages are read: all rows of the account, or those of a source, which all of them have. */
export interface SimulatedList {
  readonly account: string;
  readonly source: string | undefined;
  /** The statuses of the cells 0 to 2. */
  readonly statuses: Statuses;
}

/** The cells of a tree: one for each of three statuses, and one for all others. */
const statusCells = 4;

/** The filters of a list: without a status, and with each of them. */
export const listFilters = ({ source: sourceOrChannel, statuses }: SimulatedList): readonly Filter[] =>
  [undefined, ...statuses.names].map((status) => ({ status, sourceOrChannel }));

/** The rows of a list in the partitions of its filters. */
export class ListRows implements RowPartition {
  readonly #rows: SyntheticRows;
  /** The number of rows with each status before each block. */
  readonly #before: readonly Float64Array[];
  /** The status of each partition, as the number of its cell. */
  readonly #statuses: ReadonlyMap<string, number | undefined>;

  constructor(rows: SyntheticRows, list: SimulatedList) {
    this.#rows = rows;
    this.#before = countBlocks(rows);
    this.#statuses = new Map(
      listFilters(list).map((filter, i) => [
        filteredRange(list.account, countedLists.lead, filter).range.partition,
        i === 0 ? undefined : i - 1,
      ]),
    );
  }

  get size(): number {
    return this.#rows.size;
  }

  firstAt = (key: string) => this.#rows.firstAt(key);

  key = (index: number) => this.#rows.key(index);

  isIn(index: number, partition: string): boolean {
    const status = this.#statusOf(partition);
    return status === undefined || this.#rows.cell(index) === status;
  }

  total(partition: string): number {
    const status = this.#statusOf(partition);
    return status === undefined ? this.size : (this.#before[status]?.at(-1) ?? 0);
  }

  /** The sort keys of a page of a partition, newest first: from the counts of blocks, without a tree. */
  page(partition: string, page: number, limit: number): readonly string[] {
    const newest = this.total(partition) - 1 - (page - 1) * limit;
    const keys: string[] = [];
    if (newest < 0) return keys;
    for (let index = this.#find(partition, newest); index >= 0 && keys.length < limit; index--)
      if (this.isIn(index, partition)) keys.push(this.key(index));
    return keys;
  }

  /** The index of the row of a rank in its partition. */
  #find(partition: string, rank: number): number {
    const status = this.#statusOf(partition);
    if (status === undefined) return rank;
    const before = this.#before[status] as Float64Array;
    let low = 0;
    for (let high = before.length - 1; high - low > 1; ) {
      const middle = (low + high) >>> 1;
      if ((before[middle] as number) <= rank) low = middle;
      else high = middle;
    }
    let index = low * blockRows;
    for (let left = rank - (before[low] as number); left > 0 || !this.isIn(index, partition); index++)
      if (this.isIn(index, partition)) left--;
    return index;
  }

  #statusOf(partition: string): number | undefined {
    if (!this.#statuses.has(partition)) throw new Error(`No list reads the partition ${partition}.`);
    return this.#statuses.get(partition);
  }
}

const blockRows = 4096;

function countBlocks(rows: SyntheticRows): readonly Float64Array[] {
  const blocks = Math.ceil(rows.size / blockRows);
  const before = Array.from({ length: statusCells }, () => new Float64Array(blocks + 1));
  const counts = new Float64Array(statusCells);
  for (let block = 0; block < blocks; block++) {
    const end = Math.min(rows.size, (block + 1) * blockRows);
    for (let index = block * blockRows; index < end; index++) {
      const status = rows.cell(index);
      counts[status] = (counts[status] as number) + 1;
    }
    for (const [status, count] of counts.entries()) (before[status] as Float64Array)[block + 1] = count;
  }
  return before;
}
