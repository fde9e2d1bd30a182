import { listLeads } from "../../shared/domain/leads.ts";
import { isBusy } from "../../shared/dynamodb/dynamodb-errors.ts";
import type { RowChange } from "../../shared/pages/maintain/changes.ts";
import { maintainList } from "../../shared/pages/maintain/maintain-list.ts";
import { maintainLists } from "../../shared/pages/maintain/maintain-lists.ts";
import type { Limits } from "../../shared/pages/tree/tree-limits.ts";
import { isTreeChanged } from "../../shared/pages/tree/tree-store.ts";
import { account, owner, type RowFilter } from "./rows.ts";
import type { Program } from "./steps/actors.ts";
import { toText } from "./texts.ts";

const deadline = Number.POSITIVE_INFINITY;

/** A maintainer that receives a batch of changes, repeatedly until it has finished. */
export const maintainer = (rows: readonly RowChange[], limits: Limits, skew: number): Program => ({
  name: `maintainer ${skew} ${toText(rows)}`,
  skew,
  async run() {
    for (;;) {
      const [unfinished] = await maintainLists([{ owner, rows }], { deadline, limits });
      if (!unfinished) return;
      const { error } = unfinished;
      if (error && !isTreeChanged(error) && !isBusy(error)) throw error;
    }
  },
});

/** Counts the initial rows, without waiting for young ones. */
export const counter = (rows: readonly RowChange[], limits: Limits, skew: number): Program => ({
  name: `counter ${skew} ${toText(rows)}`,
  skew,
  async run() {
    const { error } = await maintainList(owner, rows, { deadline, limits });
    if (error) throw error;
  },
});

/** A page that a list returned. */
export interface ReadPage {
  readonly total: number;
  readonly ids: readonly string[];
}

/** The number of rows of a page. */
export const pageSize = 2;

/** A reader of a page of the whole list, or with a filter. */
export const reader = (page: number, filter: RowFilter = {}): Program => ({
  name: `reader ${page} ${toText(filter)}`,
  skew: 0,
  async run(): Promise<ReadPage> {
    const query = { ...filter, page: `${page}`, limit: `${pageSize}` };
    const { data, pagination } = await listLeads(account, query);
    return { total: pagination.total, ids: data.map(({ id }) => id) };
  },
});
