import type { Item } from "../../dynamodb/table-client.ts";
import type { Page, PageRequest } from "../page.ts";
import type { CountedRange } from "./counted-range.ts";
import { type Range, rangeId, readPages, walk } from "./range.ts";
import { type AdmitLongList, type Call, withinBudget } from "./read-budget.ts";
import { readTail } from "./tail.ts";
import { readTailPage } from "./tail-page.ts";
import { isWithin, type Window } from "./window.ts";
import { newestWithin } from "./window-start.ts";

/** The rows of a page, and the number of rows of the whole list. */
export interface Found {
  readonly items: readonly Item[];
  readonly total: number;
}

/**
 * A page of a list without a tree, newest first, and the exact total: all rows are read, within the budget of a list.
 *
 * @throws TooExpensiveError when there are too many
 */
export function plainPage<T>(
  { range, window }: { readonly range: Range; readonly window: Window },
  request: PageRequest,
  toRecord: (item: Item) => T,
  admitLongList: AdmitLongList,
): Promise<Page<T>> {
  return withinBudget(rangeId(range), admitLongList, async (call) => {
    const start = (request.page - 1) * request.limit;
    const data: T[] = [];
    let total = 0;
    for await (const { items } of readPages(range, { before: window.before, downTo: window.from }, call)) {
      const [first, end] = [start - total, start - total + request.limit].map((index) => Math.max(0, index));
      data.push(...items.slice(first, end).map(toRecord));
      total += items.length;
    }
    return { data, pagination: { ...request, total } };
  });
}

/** The rows of a page without counts: all rows of the range are its tail. */
export async function findPlain(
  { range, window = {} }: CountedRange,
  request: PageRequest,
  call: Call,
): Promise<Found> {
  const newest = await walk(range, { maxRows: request.limit }, call);
  const tail = await readTail(range, { watermark: "", newest, memory: undefined }, call);
  const keys = tail.filter(isWithin(window));
  const total = keys.length;
  if ((request.page - 1) * request.limit >= total) return { items: [], total };
  const start = { newest: newestWithin(newest, window), keys, end: "", counted: undefined, total };
  return { items: await readTailPage(range, start, request, call, window), total };
}
