import { type IndexName, keysOf } from "../dynamodb/keys.ts";
import type { Item } from "../dynamodb/table-client.ts";
import { defaultLimit, defaultPage } from "../schemas/page-schemas.ts";

/** The number of a page, from 1, and the number of items per page. */
export interface PageRequest {
  readonly page: number;
  readonly limit: number;
}

/** A page of a list, with the exact number of items in the whole list. */
export interface Page<T> {
  readonly data: T[];
  readonly pagination: PageRequest & { readonly total: number };
}

/** The page of a list, and its order. */
export interface RowsRequest extends PageRequest {
  readonly ascending?: boolean;
  /** The index whose time sorts the rows; undefined for the order of creation. */
  readonly by?: IndexName | undefined;
}

/** The rows of a page, in its order, and the number of rows of the whole list. */
export interface Found {
  readonly items: readonly Item[];
  readonly total: number;
}

/** Takes a page, in its order, from rows that have all been read. */
export function takePage(items: readonly Item[], { page, limit, ascending = false, by }: RowsRequest): Found {
  const { sort } = keysOf(by);
  const sorted = items.map((item) => ({ item, at: `${item[sort]} ${item.sk}` }));
  sorted.sort((a, b) => (a.at < b.at === ascending ? -1 : 1));
  return {
    items: sorted.slice((page - 1) * limit, page * limit).map(({ item }) => item),
    total: items.length,
  };
}

/** The most rows before the end of a page in a list by change: reading them costs more with each further page. */
const maxByChange = 2000;

/** The order of a list by its `sort`, which begins with a minus if the newest rows are first. */
export const toOrder = (sort = "-createdAt") => ({
  by: /^-?(?:updated|lastMessage)At$/.test(sort) ? ("by-activity" as const) : undefined,
  ascending: !sort.startsWith("-"),
});

/** The last page that a list can show. */
export const lastPage = ({ sort }: { sort?: string }, limit: number) =>
  toOrder(sort).by ? Math.floor(maxByChange / limit) : Number.POSITIVE_INFINITY;

/** The page that a valid query requests. */
export const pageRequest = (query: { page?: string; limit?: string }): PageRequest => ({
  page: Number(query.page ?? defaultPage),
  limit: Number(query.limit ?? defaultLimit),
});
