import { deepStrictEqual } from "node:assert";
import { listLeads } from "../../../shared/domain/leads.ts";
import type { Page, PageRequest } from "../../../shared/pages/page.ts";
import { filteredRange } from "../../../shared/pages/read/choose-index.ts";
import { readSegments } from "../../../shared/pages/read/range.ts";
import { countedLists } from "../../../shared/pages/tree/counted-list.ts";
import type { LeadsQuery } from "../../../shared/schemas/lead-schemas.ts";
import { seeded } from "../../support/cases/random.ts";
import { spread } from "../../support/cases/statistics.ts";
import type { Account } from "./account.ts";
import type { RowFilter } from "./lead-rows.ts";
import { type Cost, metered } from "./metered-table.ts";

/** The rows of a page. */
export const limit = 20;

/** How many random pages of a list are read. */
const randomPages = 100;

/** A list whose pages are read. */
export interface List {
  readonly name: string;
  /** The rows that it must have, oldest first. */
  readonly rows: readonly { readonly id: string }[];
  readonly read: (request: PageRequest) => Promise<Page<{ readonly id?: unknown }>>;
}

/** The leads of an account that a request asks for. */
export const leadList = (
  account: Account,
  query: LeadsQuery,
  rows: List["rows"] = account.matching(query),
): List => ({
  name: Object.values(query).join(" + ") || "none",
  rows,
  read: (request) => listLeads(account.name, query, request),
});

const { signal } = new AbortController();

/** The same leads, with pages and totals from reading all of them: what the counted trees save. */
export function plainList(account: Account, filter: RowFilter): List {
  const { status, source: label } = filter;
  const { range } = filteredRange(account.name, countedLists.lead, { status, label });
  const read: List["read"] = async ({ page, limit }) => {
    const rows = [];
    for await (const { items } of readSegments(range, {}, (send) => send({ abortSignal: signal })))
      rows.push(...items);
    const data = rows.slice((page - 1) * limit, page * limit);
    return { data, pagination: { page, limit, total: rows.length } };
  };
  return { ...leadList(account, filter), read };
}

/** Reads a page. @throws AssertionError unless it is that of the rows in memory */
export async function readPage({ name, rows, read }: List, page: number): Promise<Cost> {
  const { result, cost } = await metered(() => read({ page, limit }));
  const end = Math.max(0, rows.length - (page - 1) * limit);
  const ids = rows.slice(Math.max(0, end - limit), end).map(({ id }) => id);
  const response = { ids: result.data.map(({ id }) => id), total: result.pagination.total };
  deepStrictEqual(response, { ids: ids.reverse(), total: rows.length }, `${name}: wrong page ${page}`);
  return cost;
}

/** Reads random pages of a list, and the first, the middle and the last: all pages of a short list. */
export async function readList(list: List) {
  const last = Math.max(1, Math.ceil(list.rows.length / limit));
  const random = seeded(last);
  const drawn = Array.from({ length: Math.min(last, randomPages) }, (_, n) =>
    last <= randomPages ? n + 1 : 1 + Math.floor(random() * last),
  );
  const pages = [];
  for (const page of [1, Math.ceil(last / 2), last, ...drawn]) pages.push(await readPage(list, page));
  const ends = pages.slice(0, 3).map(({ read }) => read);
  return { ...listCost(pages), median: listCost(pages.slice(3)).median, ends };
}

/** What pages cost: the median and the most read units of a page, and the most calls and round trips. */
export const listCost = (pages: readonly Cost[]) => ({
  ...spread(pages.map(({ read }) => read)),
  calls: Math.max(...pages.map(({ calls }) => calls)),
  trips: Math.max(...pages.map(({ trips }) => trips)),
});
