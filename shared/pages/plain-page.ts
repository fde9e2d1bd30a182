import type { Item } from "../dynamodb/table-client.ts";
import type { Page, PageRequest } from "./page.ts";
import { type Range, rangeId, type Segment, walk } from "./range.ts";
import { type AdmitLongList, type Call, withinBudget } from "./read-budget.ts";
import { readTail } from "./tail.ts";
import { readTailPage } from "./tail-page.ts";

/** The rows of a page, and the number of rows of the whole list. */
export interface Found {
  readonly items: readonly Item[];
  readonly total: number;
}

/**
 * A page of a range, newest first, and the exact total, by reading the sort keys of the whole range. A first page with
 * all rows needs one call.
 *
 * @throws TooExpensiveError when the range has too many rows
 */
export function plainPage<T>(
  range: Range,
  request: PageRequest,
  toRecord: (item: Item) => T,
  admitLongList?: AdmitLongList,
): Promise<Page<T>> {
  return withinBudget(rangeId(range), admitLongList, async (call) => {
    // The table reads all rows of a range with a condition anyway, and returns those that match.
    const maxRows = range.where ? Number.POSITIVE_INFINITY : request.limit;
    const newest = await walk(range, { maxRows }, call);
    const { items, total } = await findPlain(range, newest, request, call);
    return { data: items.map(toRecord), pagination: { ...request, total } };
  });
}

/** The rows of a page without counts: all rows of the range are its tail. */
export async function findPlain(
  range: Range,
  newest: Segment,
  request: PageRequest,
  call: Call,
): Promise<Found> {
  const watermark = "";
  const tail = await readTail(range, { watermark, settledBefore: "", newest }, call);
  const total = tail.length;
  if ((request.page - 1) * request.limit >= total) return { items: [], total };
  return { items: await readTailPage(range, { tail, watermark, newest }, request, call), total };
}
