import { deepStrictEqual } from "node:assert";
import type { Page } from "../../../shared/pages/page.ts";
import { seeded } from "../../support/cases/random.ts";
import { spread } from "../../support/cases/statistics.ts";
import { advanceClock, type Cost, metered } from "./metered-table.ts";

/** The rows of a page. */
export const limit = 20;

/** How many random pages of a list are read. */
const randomPages = 100;

/** A list whose pages are read. */
export interface List {
  /** The rows that the list must have, from the last row to the first. */
  readonly rows: readonly { readonly id: string }[];
  readonly read: (request: { page: string; limit: string }) => Promise<Page<{ readonly id?: unknown }>>;
}

/** Reads a page. @throws AssertionError if it differs from the rows in memory */
export async function readPage({ rows, read }: List, page: number): Promise<Cost> {
  const { result, cost } = await metered(() => read({ page: `${page}`, limit: `${limit}` }));
  const end = Math.max(0, rows.length - (page - 1) * limit);
  const ids = rows.slice(Math.max(0, end - limit), end).map(({ id }) => id);
  const response = { ids: result.data.map(({ id }) => id), total: result.pagination.total };
  deepStrictEqual(response, { ids: ids.reverse(), total: rows.length }, `wrong page ${page}`);
  return cost;
}

/** Reads pages. @returns the median and the most read units, the most calls and round trips, and the cost of each page */
export async function readPages(pages: Iterable<readonly [list: List, page: number]>) {
  const costs: Cost[] = [];
  for (const [list, page] of pages) {
    // Time passes, because long lists are admitted only a few times a second.
    advanceClock(1000);
    costs.push(await readPage(list, page));
  }
  const { median, worst } = spread(costs.map(({ R }) => R));
  const most = (name: keyof Cost) => Math.max(...costs.map((cost) => cost[name]));
  return { cells: { median, worst, calls: most("calls"), trips: most("trips") }, costs };
}

/** Reads the first, the middle and the last page of a list, and random pages, or all of a short list. */
export async function readList(list: List, lastPage = Number.POSITIVE_INFINITY) {
  const count = Math.min(lastPage, Math.max(1, Math.ceil(list.rows.length / limit)));
  const random = seeded(count);
  const drawn = Array.from({ length: Math.min(count, randomPages) }, (_, n) =>
    count <= randomPages ? n + 1 : 1 + Math.floor(random() * count),
  );
  const pages = [1, Math.ceil(count / 2), count, ...drawn];
  const { cells, costs } = await readPages(pages.map((page) => [list, page] as const));
  const [first = Number.NaN, middle = Number.NaN, last = Number.NaN] = costs.map(({ R }) => R);
  return { rows: list.rows.length, first, middle, last, ...cells };
}
