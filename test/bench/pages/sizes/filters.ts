import { rareSource } from "../leads.ts";
import { leadList, type MeasuredList } from "../measured-list.ts";
import type { Population } from "../population.ts";
import type { LeadFilter } from "../rows.ts";

/** Every combination of filters, with frequent and rare values. */
export const filters: readonly LeadFilter[] = [
  {},
  { status: "new" },
  { status: "booked" },
  { source: "website" },
  { source: "partner" },
  { status: "new", source: "website" },
  { status: "booked", source: "partner" },
  { source: rareSource },
];

/** The list of each filter. */
export const allLists = (population: Population): MeasuredList[] =>
  filters.map((filter) => leadList(population, filter));
