import type { Item } from "../dynamodb/table-client.ts";
import type { PageRequest } from "./page.ts";
import type { Range, Segment } from "./range.ts";
import type { Call } from "./read-budget.ts";
import { readTail } from "./tail.ts";
import { readTailPage } from "./tail-page.ts";

/** The rows of a page, and the number of rows of the whole list. */
export interface Found {
  readonly items: readonly Item[];
  readonly total: number;
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
