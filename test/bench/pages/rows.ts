import type { Lead } from "../../../shared/schemas/lead-schemas.ts";

/** The rows of a page. */
export const limit = 20;

/** The fields of a lead that a benchmark keeps in memory. */
export interface LeadRow {
  readonly id: string;
  readonly status: Lead["status"];
  readonly source: string;
}

/** The same of a conversation. */
export interface ConversationRow {
  readonly id: string;
  readonly status: "active" | "ended";
  readonly leadId: string;
  readonly channel: string;
}

export type Row = LeadRow | ConversationRow;

/** Fields that rows must have to be in a list; all rows match without any. */
export type Filter<R extends Row> = R extends Row ? Partial<Omit<R, "id">> : never;
