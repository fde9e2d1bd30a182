import { setTimeout } from "node:timers/promises";
import { rebuild } from "../../lib/ops/counts/rebuild.ts";
import { listLeads } from "../../shared/domain/leads.ts";
import { isBusy } from "../../shared/dynamodb/dynamodb-errors.ts";
import type { RowChange } from "../../shared/pages/maintain/changes.ts";
import { maintainLists } from "../../shared/pages/maintain/maintain-lists.ts";
import { forgetTails } from "../../shared/pages/read/tail.ts";
import type { CountedOwner } from "../../shared/pages/tree/counted-list.ts";
import type { Limits } from "../../shared/pages/tree/tree-limits.ts";
import { isTreeChanged } from "../../shared/pages/tree/tree-store.ts";
import type { Program } from "./actors.ts";
import { account, type RowFilter } from "./rows.ts";
import { toText } from "./texts.ts";

/** A maintainer that gets a batch of changes, again until it has finished. */
export const maintainer = (
  owner: CountedOwner,
  rows: readonly RowChange[],
  limits: Limits,
  skew = 0,
): Program => ({
  name: `maintainer ${skew} ${toText(rows)}`,
  skew,
  async run() {
    for (;;) {
      const means = { deadline: Number.POSITIVE_INFINITY, limits };
      const [unfinished] = await maintainLists([{ owner, rows }], means);
      if (!unfinished) return;
      const { error } = unfinished;
      if (error && !isTreeChanged(error) && !isBusy(error)) throw error;
    }
  },
});

export const rebuilder = (owner: CountedOwner, limits: Limits): Program => ({
  name: "rebuild",
  skew: 0,
  run: () => rebuild(owner, { limits }),
});

/** A page that a list returned. */
export interface ReadPage {
  readonly total: number;
  readonly ids: readonly string[];
}

/** The rows of a page. */
export const pageSize = 2;

async function read(page: number, filter: RowFilter = {}): Promise<ReadPage> {
  const { data, pagination } = await listLeads(account, filter, { page, limit: pageSize });
  return { total: pagination.total, ids: data.map(({ id }) => id) };
}

/** A reader of a page of the whole list, or with a filter. */
export const reader = (page: number, filter?: RowFilter): Program => ({
  name: `reader ${page} ${toText(filter)}`,
  skew: 0,
  remembers: true,
  async run() {
    forgetTails();
    return read(page, filter);
  },
});

/** An environment that lists the first page twice; it waits between. */
export const returningReader = (filter: RowFilter): Program => ({
  name: `returning reader ${toText(filter)}`,
  skew: 0,
  remembers: true,
  async run() {
    forgetTails();
    await read(1, filter);
    await setTimeout(1);
    return read(1, filter);
  },
});
