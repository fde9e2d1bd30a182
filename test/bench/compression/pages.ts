import type { Lead } from "../../../shared/schemas/lead-schemas.ts";
import { realisticLeads } from "../../support/realistic-leads.ts";

/** A page of leads, and the body of its response. */
export interface BenchPage {
  readonly name: string;
  readonly leads: readonly Lead[];
  readonly page: object;
  readonly body: string;
}

function toPage(name: string, leads: readonly Lead[]): BenchPage {
  const page = { data: leads, pagination: { page: 1, limit: leads.length, total: leads.length } };
  return { name, leads, page, body: JSON.stringify(page) };
}

/** The character that takes the most bytes, four. */
const longest = "\u{1F4A3}";

/** Leads that take all that their schema allows. */
const largestLeads = (count: number) =>
  realisticLeads(count).map((lead, n) => ({
    ...lead,
    name: longest.repeat(200),
    source: longest.repeat(64),
    tags: Array.from({ length: 50 }, (_, tag) => `${n} ${tag} ${longest.repeat(58)}`),
  }));

const leadsPage = (count: number) => toPage(count === 1 ? "1 lead" : `${count} leads`, realisticLeads(count));

/** Pages whose bodies are around the size from which they are compressed. */
export const smallPages = [1, 2, 3, 4, 5, 10].map(leadsPage);

/** The default page, and the largest of normal leads. */
export const normalPages = [20, 100].map(leadsPage);

export const largestPage = toPage("100 of the largest leads", largestLeads(100));
