import { rebuild } from "../../lib/ops/counts/rebuild.ts";
import { listLeads } from "../../shared/domain/leads.ts";
import { isBusy } from "../../shared/dynamodb/dynamodb-errors.ts";
import { maintainLists } from "../../shared/pages/maintenance/maintain-lists.ts";
import { forgetTails } from "../../shared/pages/tail.ts";
import type { Limits } from "../../shared/pages/tree/tree-limits.ts";
import { isTreeChanged } from "../../shared/pages/tree/tree-store.ts";
import type { LeadsQuery } from "../../shared/schemas/lead-schemas.ts";
import type { Program } from "./actors.ts";
import { account, owner } from "./scenario.ts";

/** A maintainer that gets a batch of changes, again until it has finished. */
export const maintainer = (keys: readonly string[], limits: Limits, skew = 0): Program => ({
  name: `maintainer ${skew} ${keys}`,
  skew,
  async run() {
    const changes = [{ owner, keys, sequenceNumbers: keys }];
    for (;;) {
      const [unfinished] = await maintainLists(changes, { deadline: Number.POSITIVE_INFINITY, limits });
      if (!unfinished) return;
      const { error } = unfinished;
      if (error && !isTreeChanged(error) && !isBusy(error)) throw error;
    }
  },
});

export const rebuilder = (limits: Limits): Program => ({
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

export const reader = (page: number, filter: LeadsQuery = {}): Program => ({
  name: `reader ${page} ${filter.status} ${filter.source}`,
  skew: 0,
  async run(): Promise<ReadPage> {
    forgetTails();
    const { data, pagination } = await listLeads(account, filter, { page, limit: pageSize });
    return { total: pagination.total, ids: data.map(({ id }) => id) };
  },
});
