import { leadItem } from "../../../shared/domain/leads.ts";
import { createdAt } from "../../../shared/ids.ts";
import type { Lead } from "../../../shared/schemas/lead-schemas.ts";

/** The fields of a lead that a benchmark keeps in memory. */
export interface Row {
  readonly id: string;
  readonly status: Lead["status"];
  readonly source: string;
}

/** The other fields that a caller sets. */
export const details = (mark: string) => ({
  name: `Lead ${mark}`,
  email: `${mark.toLowerCase()}@example.com`,
  tags: ["import"],
});

/** The item of a row's lead in the table. */
export const rowItem = (account: string, row: Row) =>
  leadItem(account, { score: 0, ...details(row.id.slice(-10)), ...row, createdAt: createdAt(row.id) });
