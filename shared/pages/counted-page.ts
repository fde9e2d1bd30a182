import {
  listPartition,
  sourceOrChannelPartition,
  statusAndSourceOrChannelPartition,
  statusPartition,
} from "../dynamodb/keys.ts";
import type { Item } from "../dynamodb/table-client.ts";
import type { Page, PageRequest } from "./page.ts";
import { plainPage } from "./plain-page.ts";
import { type Range, type Segment, walk } from "./range.ts";
import { countRows, equalCells, sumCells } from "./tree/cells.ts";
import type { Entry } from "./tree/entry.ts";
import { type Filter, matcher } from "./tree/names.ts";
import type { Root } from "./tree/root.ts";
import { limits } from "./tree/tree-limits.ts";
import { type CountedOwner, readNode, readRoot } from "./tree/tree-store.ts";

/** How often a reader starts again when the tree changes while it reads. */
const attempts = 3;

/** Up to this many rows before a page are read with it; more are counted first. */
const maxRowsReadAlong = limits.largestLeaf;

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
 */
export async function countedPage<T>(
  owner: CountedOwner,
  filter: Filter,
  request: PageRequest,
  toRecord: (item: Item) => T,
): Promise<Page<T>> {
  const range = filteredRange(owner, filter);
  for (let attempt = 1; ; attempt++) {
    const page = await attemptPage({ owner, filter, range }, request, attempt === attempts);
    if (page === "plain") return plainPage(range, request, toRecord);
    if (page !== "changed") {
      const { page: number, limit } = request;
      return { data: page.items.map(toRecord), pagination: { page: number, limit, total: page.total } };
    }
  }
}

interface Found {
  readonly items: readonly Item[];
  readonly total: number;
}

/** @returns `plain` when the tree cannot give the total, `changed` when the tree changed during the attempt */
async function attemptPage(
  { owner, filter, range }: { owner: CountedOwner; filter: Filter; range: Range },
  { page, limit }: PageRequest,
  lastAttempt: boolean,
): Promise<Found | "plain" | "changed"> {
  const offset = (page - 1) * limit;
  const [root, newest] = await Promise.all([
    readRoot(owner),
    walk(range, { maxRows: page === 1 ? limit : limits.tail + 1, read: true }),
  ]);
  if (newest.done) return { items: newest.items.slice(offset, offset + limit), total: newest.count };
  const matches = root && root.pending.length === 0 ? matcher(root.names, filter) : undefined;
  if (!root || !matches) return page === 1 ? countRest(range, newest) : "plain";
  const tail = await countTail(range, root.watermark, newest);
  const count = ({ cells }: Entry) => countRows(cells, matches);
  const counted = [...root.entries, root.last].reduce((sum, entry) => sum + count(entry), 0);
  const total = counted + tail;
  if (page === 1) return { items: newest.items, total };
  if (offset >= total) return { items: [], total };
  if (offset < tail) return { items: await readFrom(range, undefined, offset, limit), total };
  const place = await findRow(owner, root, count, total - 1 - offset, lastAttempt);
  if (typeof place === "string") return place;
  return { items: await readFrom(range, place.before, place.skip, limit), total };
}

/** The first page, when no tree has the number of rows after it. */
async function countRest(range: Range, newest: Segment): Promise<Found> {
  const rest = await walk(range, { maxRows: Number.POSITIVE_INFINITY, read: false, after: newest });
  return { items: newest.items, total: newest.count + rest.count };
}

/** The number of rows at or past the watermark, without a call if the newest rows reach below it. */
async function countTail(range: Range, watermark: string, newest: Segment): Promise<number> {
  const young = newest.items.filter(({ sk }) => String(sk) >= watermark).length;
  if (young < newest.items.length) return young;
  return (await walk(range, { downTo: watermark, maxRows: Number.POSITIVE_INFINITY, read: false })).count;
}

/** The position of a row: a number of rows before a sort key. */
interface Place {
  readonly before: string;
  readonly skip: number;
}

/**
 * Finds the row of a rank, which counts from the oldest row, so that new rows do not change it.
 *
 * @param insist whether to continue although nodes and their sums disagree
 */
async function findRow(
  owner: CountedOwner,
  root: Root,
  count: (entry: Entry) => number,
  rank: number,
  insist: boolean,
): Promise<Place | "plain" | "changed"> {
  let entries: readonly Entry[] = [...root.entries, root.last];
  let end = root.watermark;
  let left = rank;
  for (let level = root.level; ; level--) {
    const { entry, next, before } = findEntry(entries, count, left);
    left -= before;
    end = next?.start ?? end;
    if (level === 0 || entry === root.last)
      return { before: end, skip: Math.max(0, count(entry) - 1 - left) };
    const node = await readNode(owner, root.generation, level, entry.start);
    if (!node) return insist ? "plain" : "changed";
    if (!insist && !equalCells(sumCells(node.map(({ cells }) => cells)), entry.cells)) return "changed";
    entries = node;
  }
}

/** The entry with the row of a rank, or the last one, with the entry after it and the number of rows before it. */
function findEntry(entries: readonly Entry[], count: (entry: Entry) => number, rank: number) {
  let before = 0;
  for (const [index, entry] of entries.entries()) {
    const rows = count(entry);
    const next = entries[index + 1];
    if (rank < before + rows || !next) return { entry, next, before };
    before += rows;
  }
  throw new Error("A node of a counted tree has no entries.");
}

/** The rows of a page that begins a number of rows before a sort key, or before the end of the range. */
async function readFrom(
  range: Range,
  before: string | undefined,
  skip: number,
  limit: number,
): Promise<readonly Item[]> {
  if (skip <= maxRowsReadAlong) {
    const { items } = await walk(range, { before, maxRows: skip + limit, read: true });
    return items.slice(skip);
  }
  const skipped = await walk(range, { before, maxRows: skip, read: false });
  return (await walk(range, { before, maxRows: limit, read: true, after: skipped })).items;
}
