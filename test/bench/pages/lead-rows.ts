import { ulid } from "ulid";
import { leadItem } from "../../../shared/domain/leads.ts";
import { createdAt } from "../../../shared/ids.ts";
import type { Lead } from "../../../shared/schemas/lead-schemas.ts";
import { seeded, skewed } from "../../support/cases/random.ts";

/** The fields of a lead that a benchmark keeps in memory. */
export interface LeadRow {
  readonly id: string;
  readonly status: Lead["status"];
  readonly source: string;
}

/** The other fields of a lead that a caller sets. */
export const details = (mark: string) => ({
  name: `Lead ${mark}`,
  email: `${mark.toLowerCase()}@example.com`,
  tags: ["import"],
});

/** The lead of a row. */
export function toLead(row: LeadRow): Lead {
  const time = createdAt(row.id);
  return { ...row, ...details(row.id.slice(-10)), score: 0, createdAt: time, updatedAt: time };
}

/** The items of rows in the table. */
export function* leadItems(account: string, rows: Iterable<LeadRow>) {
  for (const row of rows) yield leadItem(account, toLead(row));
}

const sourceShares = Object.entries({ website: 60, "search-ad": 25, referral: 10, partner: 4.99 });

const statusShares = [
  ["new", 80],
  ["qualified", 15],
  ["booked", 5],
] as const;

/** When the oldest row was created, and how much later the newest, in milliseconds. */
const start = Date.UTC(2025, 0, 1);
const period = 300 * 24 * 60 * 60 * 1000;

/** Builds rows spread evenly over the past, oldest first, with skewed statuses and sources; the same in every run. */
export function buildRows(size: number, toSource?: () => string): LeadRow[] {
  const random = seeded(size);
  const status = skewed(random, statusShares);
  const source = toSource ?? skewed(random, sourceShares);
  return Array.from({ length: size }, (_, n) => ({
    id: `lead_${ulid(start + Math.floor((period * n) / size), random)}`,
    status: status(),
    source: source(),
  }));
}

/** Picks a source for each lead, all with equal shares; the same in every run. */
export function sourcePicker(sources: number): () => string {
  const random = seeded(sources + 1);
  return () => `campaign-2025-${String(Math.floor(random() * sources)).padStart(5, "0")}`;
}
