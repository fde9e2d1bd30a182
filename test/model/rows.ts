import { crc32 } from "node:zlib";
import { encodeTime } from "ulid";
import { leadItem, toLead } from "../../shared/domain/leads.ts";
import type { Item } from "../../shared/dynamodb/table-client.ts";
import { countedLists } from "../../shared/pages/tree/counted-list.ts";
import type { Lead } from "../../shared/schemas/lead-schemas.ts";

/** The account of every scenario. */
export const account = "acme";

/** The list of every scenario: its rows are leads. */
export const owner = { account, list: countedLists.lead };

/** What lists filter rows by. */
export interface RowFilter {
  readonly status?: Lead["status"];
  readonly source?: string;
}

/** With this limit, rows whose numbers end with 0 make a maintainer look at their sublists. */
export const lookEvery = 16;

/** The item of a row, whose number is in its id. */
export const createRow = (row: number, createdAt: number, source: string | undefined): Item =>
  leadItem(account, {
    ...{ id: newId(row, createdAt), name: "x", score: 0, status: "new", tags: [] },
    createdAt: new Date(createdAt).toISOString(),
    ...(source !== undefined && { source }),
  });

function newId(row: number, createdAt: number): string {
  for (let suffix = 0; ; suffix++) {
    const number = String(row * 1000 + suffix).padStart(16, "0");
    const id = `lead_${encodeTime(createdAt, 10)}${number}`;
    const looks = crc32(id) % lookEvery === 0;
    if (looks === (row % 10 === 0)) return id;
  }
}

/** The number of a row, from its id. */
export const rowNumber = (id: string) => Math.floor(Number(id.slice(-16)) / 1000);

/** The item with another status or source. */
export const changeRow = (item: Item, filter: RowFilter): Item =>
  leadItem(account, { ...toLead(item), ...filter });

/** Whether a row matches a filter. */
export const isMatch =
  ({ status, source }: RowFilter) =>
  (item: Item) =>
    (status === undefined || item.status === status) && (source === undefined || item.source === source);
