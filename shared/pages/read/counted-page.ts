import type { Item } from "../../dynamodb/table-client.ts";
import type { RowsRequest } from "../page.ts";
import { limits } from "../tree/tree-limits.ts";
import { DamagedTreeError, isTreeChanged, logDamage } from "../tree/tree-store.ts";
import type { CountedRange } from "./choose-index.ts";
import { findRow } from "./find-row.ts";
import { type ListTotal, readTotal } from "./list-total.ts";
import { type Found, findPlain } from "./plain-page.ts";
import { type Range, readSegments, walk } from "./range.ts";
import type { Call } from "./read-budget.ts";
import type { Window } from "./window.ts";

/** How often a reader starts again when the tree changes while it reads. */
const attempts = 3;

/**
 * Finds the rows of a page and the exact total, at nearly the same cost for any length of the list and any depth of the
 * page: the tree has the number of rows, and the sort keys between which the page begins.
 *
 * It reads again while the tree changes, a few times, and then without the tree: at once if it is damaged.
 */
export async function findCounted(list: CountedRange, request: RowsRequest, call: Call): Promise<Found> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await findPage(list, request, call);
    } catch (error) {
      if (isTreeChanged(error) && attempt < attempts) continue;
      if (error instanceof DamagedTreeError) logDamage(error);
      else if (!isTreeChanged(error)) throw error;
      return findPlain(list, request, call);
    }
  }
}

/**
 * @throws TreeChangedError when the tree changed during the attempt
 * @throws DamagedTreeError when a node is missing or differs from its sums
 */
async function findPage(list: CountedRange, request: RowsRequest, call: Call): Promise<Found> {
  const { page, limit, ascending = false } = request;
  // A window that has ended seldom has rows of the tail.
  const maxRows = list.window.before === undefined ? limits.tail + 1 : 0;
  const start = await readTotal(list, page === 1 && !ascending ? limit : maxRows, call);
  const { total } = start;
  const first = (page - 1) * limit;
  if (first >= total) return { items: [], total };
  if (!ascending) return { items: await readSlice(list, start, { offset: first, limit }, call), total };
  const end = Math.min(first + limit, total);
  const items = await readSlice(list, start, { offset: total - end, limit: end - first }, call);
  return { items: items.toReversed(), total };
}

/** A part of a list: so many rows after the newest ones. */
interface Slice {
  readonly offset: number;
  readonly limit: number;
}

/** Reads a part of a list, newest first. @throws the errors of `findPage` */
async function readSlice(
  { range, window }: CountedRange,
  start: ListTotal,
  slice: Slice,
  call: Call,
): Promise<readonly Item[]> {
  const { offset, limit } = slice;
  const { keys, counted, newest } = start;
  if (offset < keys.length || !counted || offset === 0)
    return readTailSlice(range, start, slice, call, window);
  const rank = counted.rows - 1 - (offset - keys.length);
  const { before, skip } = await findRow(counted, rank, areSmall(newest.items));
  const { items } = await walk(range, { before, downTo: window.from, maxRows: skip + limit }, call);
  return items.slice(skip);
}

/** A node of rows costs one read unit, which half a node of rows of this size costs in an index, in bytes. */
const smallRow = 500;

/** Whether rows are so small that skipping some costs less than reading their sort keys. */
const areSmall = (items: readonly Item[]) => JSON.stringify(items).length <= smallRow * items.length;

/**
 * The rows of a part that begins among those whose sort keys are known. A row that was written after these were read is
 * left out: it is not in the total, and in place of it the part, which may be the last one, would lose its oldest row.
 */
async function readTailSlice(
  range: Range,
  { keys, end, newest, counted }: ListTotal,
  { offset, limit }: Slice,
  call: Call,
  { from, before }: Window,
): Promise<readonly Item[]> {
  const listed = new Set(keys);
  const isListed = ({ sk }: Item) => String(sk) < end || listed.has(String(sk));
  const known = newest.items.filter(isListed).slice(offset);
  if (newest.done || known.length >= limit) return known.slice(0, limit);
  // What is known are the newest rows, without gaps.
  const reached = known.length > 0 ? String(newest.items.at(-1)?.sk) : (keys[offset - 1] ?? before);
  const bounds = { before: reached, downTo: counted ? from : end };
  const items = [...known];
  for await (const segment of readSegments(range, bounds, call, () => limit - items.length)) {
    items.push(...segment.items.filter(isListed));
    if (items.length >= limit) break;
  }
  return items.slice(0, limit);
}
