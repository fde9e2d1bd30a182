import {
  listPartition,
  sourceOrChannelPartition,
  statusAndSourceOrChannelPartition,
  statusPartition,
} from "../dynamodb/keys.ts";
import type { Item } from "../dynamodb/table-client.ts";
import { findRow, type Place } from "./find-row.ts";
import type { Page, PageRequest } from "./page.ts";
import { type Found, findPlain } from "./plain-page.ts";
import { type Range, rangeId, walk } from "./range.ts";
import { type AdmitLongList, type Call, withinBudget } from "./read-budget.ts";
import { readTail } from "./tail.ts";
import { readTailPage } from "./tail-page.ts";
import { countRows } from "./tree/cells.ts";
import { keyAt } from "./tree/counted-list.ts";
import type { Entry } from "./tree/entry.ts";
import { type Filter, matcher } from "./tree/names.ts";
import { emptyRoot } from "./tree/root.ts";
import { limits } from "./tree/tree-limits.ts";
import { type CountedOwner, readRoot } from "./tree/tree-store.ts";

/** How often a reader starts again when the tree changes while it reads. */
const attempts = 3;

/** How late a row may appear in an index, in milliseconds: normally less than a second. */
const indexLateness = 30_000;

/** The rows of a list that match a filter: the partition of the index for it. */
export function filteredRange(
  { account, list: { type } }: CountedOwner,
  { status, sourceOrChannel }: Filter,
): Range {
  if (status && sourceOrChannel) {
    const partition = statusAndSourceOrChannelPartition(type, account, status, sourceOrChannel);
    return { index: "by-status-and-origin", partition };
  }
  if (status) return { index: "by-status", partition: statusPartition(type, account, status) };
  if (sourceOrChannel)
    return { index: "by-origin", partition: sourceOrChannelPartition(type, account, sourceOrChannel) };
  return { partition: listPartition(type, account) };
}

/**
 * A page of a list and its exact total, at nearly the same cost for any length of the list and any depth of the page: the
 * tree has the number of rows, and the sort keys between which the page begins.
 *
 * @throws TooExpensiveError when the list would need too many calls or too much time
 */
export function countedPage<T>(
  owner: CountedOwner,
  filter: Filter,
  request: PageRequest,
  toRecord: (item: Item) => T,
  admitLongList?: AdmitLongList,
): Promise<Page<T>> {
  const range = filteredRange(owner, filter);
  return withinBudget(rangeId(range), admitLongList, async (call) => {
    let found: Found | "changed" = "changed";
    for (let attempt = 1; found === "changed"; attempt++) {
      found = await findPage({ owner, filter, range, call, lastAttempt: attempt === attempts }, request);
    }
    return { data: found.items.map(toRecord), pagination: { ...request, total: found.total } };
  });
}

/** A list, and an attempt to read it. */
interface Attempt {
  readonly owner: CountedOwner;
  readonly filter: Filter;
  readonly range: Range;
  readonly call: Call;
  /** Whether to continue although the tree changes. */
  readonly lastAttempt: boolean;
}

/** @returns `changed` when the tree changed during the attempt, unless it is the last one */
async function findPage(attempt: Attempt, request: PageRequest): Promise<Found | "changed"> {
  const { owner, filter, range, call, lastAttempt } = attempt;
  const { page, limit } = request;
  const offset = (page - 1) * limit;
  const lateness = range.index ? indexLateness : limits.allowedLateness;
  const settledBefore = keyAt(owner.list, Date.now() - lateness);
  const [root, newest] = await Promise.all([
    call((options) => readRoot(owner, "root", options)),
    walk(range, { maxRows: page === 1 ? limit : limits.tail + 1 }, call),
  ]);
  if (newest.done) return { items: newest.items.slice(offset, offset + limit), total: newest.items.length };
  const matches = root && root.pending.length === 0 ? matcher(root.names, filter) : undefined;
  if (root && !matches) return findPlain(range, newest, request, call);
  // Without a tree, nothing is counted yet: all rows are the tail.
  const { watermark, entries, last } = root ?? emptyRoot(0);
  const tail = await readTail(range, { watermark, settledBefore, newest }, call);
  const count = ({ cells }: Entry) => countRows(cells, matches);
  const counted = [...entries, last].reduce((sum, entry) => sum + count(entry), 0);
  const total = counted + tail.length;
  if (offset >= total) return { items: [], total };
  if (offset < tail.length || offset === 0) {
    return { items: await readTailPage(range, { tail, watermark, newest }, request, call), total };
  }
  const place = root && (await findRow(attempt, root, count, total - 1 - offset));
  if (place) return { items: await readFrom(range, place, limit, call), total };
  return lastAttempt ? findPlain(range, newest, request, call) : "changed";
}

/** The rows of a page that begins at a place. It is in the middle of a leaf, whose rows before it are read with it. */
async function readFrom(
  range: Range,
  { before, skip }: Place,
  limit: number,
  call: Call,
): Promise<readonly Item[]> {
  const { items } = await walk(range, { before, maxRows: skip + limit }, call);
  return items.slice(skip);
}
