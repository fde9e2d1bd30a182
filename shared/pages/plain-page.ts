import type { Item } from "../dynamodb/table-client.ts";
import type { PageRequest } from "./page.ts";
import { type Range, walk } from "./range.ts";
import type { Call } from "./read-budget.ts";
import { readTail } from "./tail.ts";
import { readTailPage } from "./tail-page.ts";
import { isWithin, type Window } from "./window.ts";
import { newestWithin } from "./window-start.ts";

/** The rows of a page, and the number of rows of the whole list. */
export interface Found {
  readonly items: readonly Item[];
  readonly total: number;
}

/** The rows of a page without counts: all rows of the range are its tail. */
export async function findPlain(
  range: Range,
  request: PageRequest,
  call: Call,
  window: Window,
): Promise<Found> {
  const newest = await walk(range, { maxRows: request.limit }, call);
  const keys = await readTail(range, { watermark: "", settledBefore: "", newest }, call);
  const tail = keys.filter(isWithin(window));
  const total = tail.length;
  if ((request.page - 1) * request.limit >= total) return { items: [], total };
  const start = { newest: newestWithin(newest, window), tail, watermark: "", counted: undefined, total };
  return { items: await readTailPage(range, start, request, call, window), total };
}
