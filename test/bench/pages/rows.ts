import type { Lead } from "../../../shared/schemas/lead-schemas.ts";

/** The rows of a page. */
export const limit = 20;

/** The fields of a lead that a benchmark keeps in memory. */
export interface LeadRow {
  readonly id: string;
  readonly status: Lead["status"];
  readonly source: string;
}

/** Fields that leads must have to be in a list; all leads match without any. */
export type LeadFilter = Partial<Omit<LeadRow, "id">>;
