import { idTimestamp } from "../../../shared/ids.ts";
import { limits } from "../../../shared/pages/tree/tree-limits.ts";
import type { ListedRow, ListFilter } from "./row-kind.ts";

/** The states of a row in the table, and when it was written. */
interface History {
  readonly states: readonly ListedRow[];
  readonly createdAt: number;
  readonly changedAt: number;
}

/** The rows that a list may have while indexes are late and changes are not counted yet. */
export interface Bounds {
  /** Those that it has for certain. */
  readonly certain: Set<string>;
  readonly possible: Set<string>;
}

const newestFirst = (a: ListedRow, b: ListedRow) => (a.id < b.id ? 1 : -1);

/** Whether a row is in the list with a filter. */
export const isListed = (row: ListedRow, filter: ListFilter) =>
  hasValues(row, filter) && isCreatedWithin(idTimestamp(row.id), filter);

const isCreatedWithin = (time: number, { createdAfter = 0, createdBefore = time + 1 }: ListFilter) =>
  createdAfter <= time && time < createdBefore;

const hasValues = (row: ListedRow, { status, origin, parent }: ListFilter) =>
  (status === undefined || row.status === status) &&
  (origin === undefined || row.origin === origin) &&
  (parent === undefined || row.parent === parent);

/** The rows of the table in memory, with their earlier states. */
export class ExpectedRows {
  /** The rows in the table, by id, in the order of their creation. */
  readonly rows = new Map<string, ListedRow>();
  readonly #histories = new Map<string, History>();

  /** Writes a row at a time, or deletes it. */
  set(id: string, row: ListedRow | undefined, at: number): void {
    const { states = [], createdAt = at } = this.#histories.get(id) ?? {};
    this.#histories.set(id, { states: row ? [...states, row] : states, createdAt, changedAt: at });
    if (row) this.rows.set(id, row);
    else this.rows.delete(id);
  }

  /** The row with this index, modulo their number. */
  at(index: number): ListedRow | undefined {
    return [...this.rows.values()][index % Math.max(1, this.rows.size)];
  }

  /** The rows of a list, newest first. */
  matching(filter: ListFilter): ListedRow[] {
    return [...this.rows.values()].filter((row) => isListed(row, filter)).sort(newestFirst);
  }

  /**
   * What a list may have at a time.
   *
   * @param longestLag how late indexes are at most, in milliseconds
   * @param open the rows with changes that are not counted yet, and those whose creation is not
   */
  bounds(
    filter: ListFilter,
    now: number,
    longestLag: number,
    open: { readonly changed: ReadonlySet<string>; readonly created: ReadonlySet<string> },
  ): Bounds {
    const isOld = (at: number) => at <= now - longestLag - limits.allowedLateness - limits.skew;
    const certain = new Set<string>();
    const possible = new Set<string>();
    for (const [id, { states, createdAt, changedAt }] of this.#histories) {
      const row = this.rows.get(id);
      const settled = isOld(changedAt) && !open.changed.has(id);
      const constant = isOld(createdAt) && !open.created.has(id) && states.every((s) => isListed(s, filter));
      if (row && isListed(row, filter) && (settled || constant)) certain.add(id);
      if (settled ? row && isListed(row, filter) : states.some((state) => isListed(state, filter)))
        possible.add(id);
    }
    return { certain, possible };
  }
}
