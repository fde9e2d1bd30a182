import type { Item } from "../../dynamodb/table-client.ts";
import type { Page, PageRequest } from "../page.ts";
import { type Range, rangeId, readPages } from "./range.ts";
import { type AdmitLongList, type Call, withinBudget } from "./read-budget.ts";
import type { Window } from "./window.ts";

/** The rows of a page, and the number of rows of the whole list. */
export interface Found {
  readonly items: readonly Item[];
  readonly total: number;
}

/** The rows of a list, and the part of them that is listed. */
interface PlainRange {
  readonly range: Range;
  readonly window?: Window | undefined;
}

/**
 * A page of a list without a tree, newest first, and the exact total: all rows are read, within the budget of a list.
 *
 * @throws TooExpensiveError when there are too many
 */
export function plainPage<T>(
  { range, window }: PlainRange,
  request: PageRequest,
  toRecord: (item: Item) => T,
  admitLongList: AdmitLongList,
): Promise<Page<T>> {
  return withinBudget(rangeId(range), admitLongList, async (call) => {
    const { items, total } = await findPlain({ range, window }, request, call);
    return { data: items.map(toRecord), pagination: { ...request, total } };
  });
}

/** The rows of a page without counts: all rows of the range are read. */
export async function findPlain(
  { range, window = {} }: PlainRange,
  { page, limit }: PageRequest,
  call: Call,
): Promise<Found> {
  const found: Item[] = [];
  let total = 0;
  for await (const { items } of readPages(range, { before: window.before, downTo: window.from }, call)) {
    const [first, end] = [(page - 1) * limit - total, page * limit - total].map((at) => Math.max(0, at));
    found.push(...items.slice(first, end));
    total += items.length;
  }
  return { items: found, total };
}
