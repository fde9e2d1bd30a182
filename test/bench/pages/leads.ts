import { ulid } from "ulid";
import { seeded, skewed } from "../../support/random.ts";
import { Population } from "./population.ts";
import type { LeadRow } from "./rows.ts";

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

/** When the oldest row was created, and how much later the newest, in milliseconds. */
const start = Date.UTC(2025, 0, 1);
const period = 300 * 24 * 60 * 60 * 1000;

/** The time at which the nth row of a number of rows was created, evenly over the past; in milliseconds. */
export const evenTime = (n: number, size: number) => start + Math.floor((period * n) / size);

/** Builds leads spread evenly over the past, with skewed statuses and sources; the same in every run. */
export function buildLeads(account: string, size: number, toSource?: (n: number) => string): Population {
  const random = seeded(size);
  const status = skewed(random, statusShares);
  const source = skewed(random, sourceShares);
  const skewedSource = (n: number) => (n % rarity === 500 ? rareSource : source());
  const rows = Array.from(
    { length: size },
    (_, n): LeadRow => ({
      id: `lead_${ulid(evenTime(n, size), random)}`,
      status: status(),
      source: (toSource ?? skewedSource)(n),
    }),
  );
  return new Population(account, rows);
}
