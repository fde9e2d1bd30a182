import { ulid } from "ulid";
import type { LeadsQuery } from "../../../shared/schemas/lead-schemas.ts";
import { seeded, skewed } from "../../support/random.ts";
import type { Row } from "./lead-item.ts";

export const rareSource = "trade-fair-2019";

/** One lead in this many has the rare source. */
const rarity = 10_000;

export const sourceShares = [
  ["website", 60],
  ["search-ad", 25],
  ["referral", 10],
  ["partner", 4.99],
] as const;

const statusShares = [
  ["new", 80],
  ["qualified", 15],
  ["booked", 5],
] as const;

/** When the oldest lead was created, and how much later the newest, in milliseconds. */
const start = Date.UTC(2025, 0, 1);
const period = 300 * 24 * 60 * 60 * 1000;

/** The leads of an account, with which every response is compared. */
export class Population {
  readonly account: string;
  readonly #rows: Row[];
  readonly #matching = new Map<string, readonly Row[]>();

  constructor(account: string, rows: readonly Row[] = []) {
    this.account = account;
    this.#rows = [...rows];
  }

  get size(): number {
    return this.#rows.length;
  }

  at(index: number): Row | undefined {
    return this.#rows[index];
  }

  add(...rows: readonly Row[]): void {
    for (const row of rows) this.#rows.push(row);
    this.#matching.clear();
  }

  /** Replaces the row that has the same id. */
  replace(row: Row): void {
    const index = this.#rows.findIndex(({ id }) => id === row.id);
    this.#rows.splice(index, 1, row);
    this.#matching.clear();
  }

  /** The rows that match a filter, oldest first. */
  matching({ status, source }: LeadsQuery): readonly Row[] {
    const key = JSON.stringify([status, source]);
    const cached = this.#matching.get(key);
    if (cached) return cached;
    const rows = this.#rows
      .filter((row) => (!status || row.status === status) && (!source || row.source === source))
      .sort((a, b) => (a.id < b.id ? -1 : 1));
    this.#matching.set(key, rows);
    return rows;
  }

  /** A page of the matching rows, newest first. */
  page(filter: LeadsQuery, page: number, limit: number): { ids: string[]; total: number } {
    const rows = this.matching(filter);
    const end = Math.max(0, rows.length - (page - 1) * limit);
    const ids = rows.slice(Math.max(0, end - limit), end).map(({ id }) => id);
    return { ids: ids.reverse(), total: rows.length };
  }
}

/**
 * Builds leads spread evenly over the past, with skewed statuses and sources; the same in every run.
 *
 * @param toSource builds the source of the nth lead instead
 */
export function populate(account: string, size: number, toSource?: (n: number) => string): Population {
  const random = seeded(size);
  const status = skewed(random, statusShares);
  const source = skewed(random, sourceShares);
  const skewedSource = (n: number) => (n % rarity === 500 ? rareSource : source());
  const rows = Array.from({ length: size }, (_, n) => ({
    id: `lead_${ulid(start + Math.floor((period * n) / size), random)}`,
    status: status(),
    source: (toSource ?? skewedSource)(n),
  }));
  return new Population(account, rows);
}
