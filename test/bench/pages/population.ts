import type { LeadFilter, LeadRow } from "./rows.ts";

/** The leads of an account, with which every response is compared. */
export class Population {
  readonly account: string;
  readonly #rows: LeadRow[];
  readonly #matching = new Map<string, readonly LeadRow[]>();

  constructor(account: string, rows: readonly LeadRow[] = []) {
    this.account = account;
    this.#rows = [...rows];
  }

  get size(): number {
    return this.#rows.length;
  }

  at(index: number): LeadRow | undefined {
    return this.#rows[index];
  }

  add(...rows: readonly LeadRow[]): void {
    for (const row of rows) this.#rows.push(row);
    this.#matching.clear();
  }

  /** Replaces the row that has the same id. */
  replace(row: LeadRow): void {
    const index = this.#rows.findIndex(({ id }) => id === row.id);
    this.#rows.splice(index, 1, row);
    this.#matching.clear();
  }

  /** The rows that match a filter, oldest first. */
  matching(filter: LeadFilter): readonly LeadRow[] {
    const fields = Object.entries(filter).sort(([a], [b]) => (a < b ? -1 : 1));
    const key = JSON.stringify(fields);
    const cached = this.#matching.get(key);
    if (cached) return cached;
    const rows = this.#rows
      .filter((row) => fields.every(([name, value]) => row[name as keyof LeadRow] === value))
      .sort((a, b) => (a.id < b.id ? -1 : 1));
    this.#matching.set(key, rows);
    return rows;
  }
}

/** A page of rows that are sorted oldest first: the newest come first in it. */
export function pageOf(
  rows: readonly LeadRow[],
  page: number,
  limit: number,
): { ids: readonly string[]; total: number } {
  const end = Math.max(0, rows.length - (page - 1) * limit);
  const ids = rows.slice(Math.max(0, end - limit), end).map(({ id }) => id);
  return { ids: ids.reverse(), total: rows.length };
}
