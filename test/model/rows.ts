import { encodeTime } from "ulid";
import { leadItem } from "../../shared/domain/leads.ts";
import type { Item } from "../../shared/dynamodb/table-client.ts";
import { countedLists } from "../../shared/pages/tree/counted-list.ts";
import { type Lead, lead } from "../../shared/schemas/lead-schemas.ts";
import { fieldsOf, toRecord } from "../../shared/schemas/record.ts";

/** The account of every scenario. */
export const account = "acme";

/** The list of every scenario: its rows are leads. */
export const owner = { account, list: countedLists.lead };

/** A filter of a list. */
export interface RowFilter {
  readonly status?: Lead["status"];
  readonly source?: string;
  /** Lists with this filter read nodes. Without it, lists as small as these read all rows at once. */
  readonly createdBefore?: string;
}

/** The item of a row, whose number is in its id. */
export const createRow = (row: number, createdAt: number, source: string | undefined): Item =>
  leadItem(account, {
    ...{ id: newId(row, createdAt), name: "x", score: 0, status: "new", tags: [] },
    createdAt: new Date(createdAt).toISOString(),
    ...(source !== undefined && { source }),
  });

const newId = (row: number, createdAt: number) =>
  `lead_${encodeTime(createdAt, 10)}${String(row).padStart(16, "0")}`;

/** The number of a row, from its id. */
export const rowNumber = (id: string) => Number(id.slice(-16));

/** The item with another status or source. */
export const changeRow = (item: Item, filter: Pick<RowFilter, "status" | "source">): Item =>
  leadItem(account, { ...toRecord(lead, fieldsOf(item)), ...filter });

/** Whether a row matches a filter. */
export const isMatch =
  ({ status, source, createdBefore = "~" }: RowFilter) =>
  (item: Item) =>
    (status === undefined || item.status === status) &&
    (source === undefined || item.source === source) &&
    String(fieldsOf(item).createdAt) < createdBefore;
