import type { Page, PageRequest } from "./page.ts";
import { type Item, type Range, walk } from "./range.ts";

/**
 * A page of the range, newest first, and the range's exact total, by one walk through all of it: the rows before
 * the page and after it are counted, those of the page are read. A first page that holds everything needs one call.
 */
export async function countedQuery<T>(
  range: Range,
  { page, limit }: PageRequest,
  toRecord: (item: Item) => T,
): Promise<Page<T>> {
  const before = await walk(range, { most: (page - 1) * limit, read: false });
  const rows = await walk(range, { most: limit, read: true, from: before });
  const after = await walk(range, { most: Number.POSITIVE_INFINITY, read: false, from: rows });
  return {
    data: rows.items.map(toRecord),
    pagination: { page, limit, total: before.count + rows.count + after.count },
  };
}
