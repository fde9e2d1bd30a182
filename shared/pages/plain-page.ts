import type { Item } from "../dynamodb/table-client.ts";
import type { Page, PageRequest } from "./page.ts";
import { type Range, walk } from "./range.ts";

/**
 * A page of a range, newest first, and the exact total, by one walk through the whole range: it reads the rows of the
 * page and counts those before and after it. A first page with all rows needs one call.
 */
export async function plainPage<T>(
  range: Range,
  { page, limit }: PageRequest,
  toRecord: (item: Item) => T,
): Promise<Page<T>> {
  const before = await walk(range, { maxRows: (page - 1) * limit, read: false });
  const rows = await walk(range, { maxRows: limit, read: true, after: before });
  const rest = await walk(range, { maxRows: Number.POSITIVE_INFINITY, read: false, after: rows });
  return {
    data: rows.items.map(toRecord),
    pagination: { page, limit, total: before.count + rows.count + rest.count },
  };
}
