import type { Item } from "../dynamodb/table-client.ts";
import type { CountedRange } from "./counted-range.ts";
import { type Attempt, findRow, type Place } from "./find-row.ts";
import { isSettled, readStart } from "./list-start.ts";
import type { Page, PageRequest } from "./page.ts";
import { type Found, findPlain } from "./plain-page.ts";
import { rangeId, walk } from "./range.ts";
import { type AdmitLongList, withinBudget } from "./read-budget.ts";
import { readTailPage } from "./tail-page.ts";
import { limits } from "./tree/tree-limits.ts";
import { narrowStart, readNewest } from "./window-start.ts";

/** How often a reader starts again when the tree changes while it reads. */
const attempts = 3;

/**
 * A page of a list and its exact total, at nearly the same cost for any length of the list and any depth of the page: the
 * tree has the number of rows, and the sort keys between which the page begins.
 *
 * @throws TooExpensiveError when the list would need too many calls or too much time
 */
export function countedPage<T>(
  counted: CountedRange,
  request: PageRequest,
  toRecord: (item: Item) => T,
  admitLongList?: AdmitLongList,
): Promise<Page<T>> {
  return withinBudget(rangeId(counted.range), admitLongList, async (call) => {
    const { items, total } = await findWhileChanged({ ...counted, call }, request);
    return { data: items.map(toRecord), pagination: { ...request, total } };
  });
}

/** Reads again while the tree changes, a few times. */
async function findWhileChanged(
  list: Omit<Attempt, "lastAttempt" | "nodes">,
  request: PageRequest,
): Promise<Found> {
  for (let attempt = 1; ; attempt++) {
    const found = await findPage({ ...list, lastAttempt: attempt === attempts, nodes: new Map() }, request);
    if (found !== "changed") return found;
  }
}

/** @returns `changed` when the tree changed during the attempt, unless it is the last one */
async function findPage(attempt: Attempt, request: PageRequest): Promise<Found | "changed"> {
  const { range, call, lastAttempt, window = {} } = attempt;
  const { page, limit } = request;
  const offset = (page - 1) * limit;
  const [whole, first] = await Promise.all([
    readStart(attempt, page === 1 ? limit : limits.tail + 1, call),
    page === 1 && isSettled(attempt) ? readNewest(attempt, limit) : undefined,
  ]);
  if (first?.done) return { items: first.items, total: first.items.length };
  const start = await narrowStart(attempt, whole, request, first);
  if (start) {
    const { tail, counted, total } = start;
    if (offset >= total) return { items: [], total };
    if (offset < tail.length || !counted || offset === 0)
      return { items: await readTailPage(range, start, request, call, window), total };
    const place = await findRow(attempt, counted, counted.rows - 1 - (offset - tail.length));
    if (place) return { items: await readFrom(attempt, place, limit), total };
  }
  return lastAttempt ? findPlain(range, request, call, window) : "changed";
}

/** The rows of a page that begins at a place. It is in the middle of a leaf, whose rows before it are read with it. */
async function readFrom(
  { range, call, window }: Attempt,
  { before, skip }: Place,
  limit: number,
): Promise<readonly Item[]> {
  const { items } = await walk(range, { before, downTo: window?.from, maxRows: skip + limit }, call);
  return items.slice(skip);
}
