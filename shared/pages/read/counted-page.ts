import type { Item } from "../../dynamodb/table-client.ts";
import type { Page, PageRequest } from "../page.ts";
import { earliest } from "../tree/counted-list.ts";
import { limits } from "../tree/tree-limits.ts";
import { DamagedTreeError, isTreeChanged, logDamage } from "../tree/tree-store.ts";
import type { CountedRange } from "./counted-range.ts";
import { findRow } from "./find-row.ts";
import { isSettled, type ListStart, narrowStart, readNewest, readStart } from "./list-start.ts";
import { type Found, findPlain } from "./plain-page.ts";
import { type Range, rangeId, readPages, walk } from "./range.ts";
import { type AdmitLongList, type Call, withinBudget } from "./read-budget.ts";
import type { Window } from "./window.ts";

/** How often a reader starts again when the tree changes while it reads. */
const attempts = 3;

/**
 * A page of a list and its exact total, at nearly the same cost for any length of the list and any depth of the page: the
 * tree has the number of rows, and the sort keys between which the page begins.
 *
 * @throws TooExpensiveError when the list would need too many calls or too much time
 */
export function countedPage<T>(
  list: CountedRange,
  request: PageRequest,
  toRecord: (item: Item) => T,
  admitLongList?: AdmitLongList,
): Promise<Page<T>> {
  return withinBudget(rangeId(list.range), admitLongList, async (call) => {
    const { items, total } = await findWhileChanged(list, request, call);
    return { data: items.map(toRecord), pagination: { ...request, total } };
  });
}

/** Reads again while the tree changes, a few times, and then without the tree: at once if it is damaged. */
async function findWhileChanged(list: CountedRange, request: PageRequest, call: Call): Promise<Found> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await findPage(list, request, call);
    } catch (error) {
      if (isTreeChanged(error) && attempt < attempts) continue;
      if (error instanceof DamagedTreeError) logDamage(list.tree, error.message);
      else if (!isTreeChanged(error)) throw error;
      return findPlain(list, request, call);
    }
  }
}

/**
 * @throws TreeChangedError when the tree changed during the attempt
 * @throws DamagedTreeError when a node is missing or differs from its sums
 */
async function findPage(list: CountedRange, request: PageRequest, call: Call): Promise<Found> {
  const { range, tree, window = {} } = list;
  const { page, limit } = request;
  const offset = (page - 1) * limit;
  const ofWindow = page === 1 && isSettled(list) ? readNewest(list, limit, call) : undefined;
  const maxRows = page === 1 ? limit : limits.tail + 1;
  const whole = await readStart(list, { maxRows, ofWindow }, call);
  const nodes = new Map();
  const start = await narrowStart({ ...list, call, nodes }, whole);
  const { keys, counted, total } = start;
  if (offset >= total) return { items: [], total };
  if (offset < keys.length || !counted || offset === 0)
    return { items: await readTailPage(range, start, request, call, window), total };
  const rank = counted.rows - 1 - (offset - keys.length);
  const reading = { ...counted, tree, call, nodes };
  const { before, skip } = await findRow(reading, rank, areSmall(whole.newest.items));
  const bounds = { before, downTo: window.from, maxRows: skip + limit };
  const { items } = await walk(range, bounds, call);
  return { items: items.slice(skip), total };
}

/** A node of rows costs one read unit, which half a node of rows of this size costs in an index, in bytes. */
const smallRow = 500;

/** Whether rows are so small that skipping some costs less than reading their sort keys. */
const areSmall = (items: readonly Item[]) => JSON.stringify(items).length <= smallRow * items.length;

/**
 * The rows of a page that begins among those whose sort keys are known. A row that was written after these were read is
 * left out: it is not in the total, and in place of it the page, which may be the last one, would lose its oldest row.
 */
async function readTailPage(
  range: Range,
  { keys, end, newest, counted }: ListStart,
  { page, limit }: PageRequest,
  call: Call,
  { from, before }: Window,
): Promise<readonly Item[]> {
  const offset = (page - 1) * limit;
  const listed = new Set(keys);
  const isListed = ({ sk }: Item) => String(sk) < end || listed.has(String(sk));
  const known = newest.items.filter(isListed);
  if (newest.done || offset + limit <= known.length) return known.slice(offset, offset + limit);
  const items = known.slice(offset);
  // What is known are the newest rows, without gaps.
  const reached = items.length > 0 ? String(newest.items.at(-1)?.sk) : (keys[offset - 1] ?? before);
  if (known.length < keys.length) {
    const bounds = { before: reached, downTo: keys[offset + limit - 1] ?? end };
    for await (const segment of readPages(range, bounds, call)) items.push(...segment.items.filter(isListed));
  }
  if (offset + limit <= keys.length || !counted) return items;
  const bounds = { before: earliest(reached ?? end, end), downTo: from };
  return [...items, ...(await walk(range, { ...bounds, maxRows: limit - items.length }, call)).items];
}
