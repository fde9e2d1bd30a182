import type { Item } from "../../dynamodb/table-client.ts";
import type { RowsRequest } from "../page.ts";
import { type Range, readSegments } from "./range.ts";
import type { Call } from "./read-budget.ts";
import type { Window } from "./window.ts";

/** The rows of a page, in its order, and the number of rows of the whole list. */
export interface Found {
  readonly items: readonly Item[];
  readonly total: number;
}

/** Finds the rows of a page without a tree: all rows of the list are read. */
export async function findPlain(
  { range, window }: { readonly range: Range; readonly window: Window },
  { page, limit, ascending }: RowsRequest,
  call: Call,
): Promise<Found> {
  const found: Item[] = [];
  let total = 0;
  const bounds = { before: window.before, downTo: window.from, ascending };
  for await (const { items } of readSegments(range, bounds, call)) {
    const [first, end] = [(page - 1) * limit - total, page * limit - total].map((at) => Math.max(0, at));
    found.push(...items.slice(first, end));
    total += items.length;
  }
  return { items: found, total };
}

/** A page of rows of which all have been read, in its order. */
export function takePage(
  items: readonly Item[],
  { page, limit, ascending = false, byActivity }: RowsRequest,
): Found {
  const by = byActivity ? "lastMessageAt" : "sk";
  const sorted = items.map((item) => ({ item, at: `${item[by]} ${item.sk}` }));
  sorted.sort((a, b) => (a.at < b.at === ascending ? -1 : 1));
  return {
    items: sorted.slice((page - 1) * limit, page * limit).map(({ item }) => item),
    total: items.length,
  };
}
