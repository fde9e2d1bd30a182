import type { Item } from "../../dynamodb/table-client.ts";
import { type Found, type RowsRequest, takePage } from "../page.ts";
import { bucketOf, earliest, latest } from "../tree/counted-list.ts";
import { countEntries } from "../tree/entry.ts";
import { limits } from "../tree/tree-limits.ts";
import { DamagedTreeError, isTreeChanged, logDamage, readRoot } from "../tree/tree-store.ts";
import type { CountedRange, ListRange } from "./choose-index.ts";
import { rowFinder } from "./find-row.ts";
import type { Segment } from "./range.ts";
import type { Call } from "./read-budget.ts";
import { walk } from "./row-reader.ts";
import { isWithin } from "./window.ts";

/** How many times a reader tries to use a tree that changes while it is read. */
const attempts = 3;

/**
 * Finds the rows of a page and the exact total, at nearly the same cost for any length of the list and any depth of the
 * page: the tree has the number of rows, and the sort keys between which the page begins.
 *
 * If the tree changes, it tries again a few times, and then reads all rows without the tree. It does so at once if the tree
 * is damaged, or if no tree counts the rows.
 */
export async function findByCreation(list: ListRange, request: RowsRequest, call: Call): Promise<Found> {
  const { tree, range, window } = list;
  for (let attempt = 1; tree && attempt <= attempts; attempt++) {
    try {
      return await findPage({ ...list, tree }, request, call);
    } catch (error) {
      if (isTreeChanged(error)) continue;
      if (!(error instanceof DamagedTreeError)) throw error;
      logDamage(error);
      break;
    }
  }
  const { items } = await walk(range, window, call);
  return takePage(items, request);
}

/** @throws the errors of `readNode` */
async function findPage(list: CountedRange, request: RowsRequest, call: Call): Promise<Found> {
  const { page, limit, ascending = false } = request;
  // A window with an end seldom has rows of the tail.
  const maxRows = list.window.before === undefined ? limits.tail + 1 : 0;
  const counted = await readTotal(list, page === 1 && !ascending ? limit : maxRows, call);
  const { total } = counted;
  const first = (page - 1) * limit;
  if (first >= total) return { items: [], total };
  if (!ascending) return { items: await readPart(list, counted, first, limit, call), total };
  const end = Math.min(first + limit, total);
  const items = await readPart(list, counted, total - end, end - first, call);
  return { items: items.toReversed(), total };
}

/** What is known of a list after its total was found. */
interface Counted {
  readonly total: number;
  /** The newest rows, as many as were asked for. */
  readonly newest: Segment;
  /** The sort keys of the rows in the tail and in the write buffer, newest first. */
  readonly keys: readonly string[];
  /** The sort key from which on all rows are in `keys`. */
  readonly listedFrom: string;
  /** The rows in nodes before `listedFrom`, also those before the list's window, and how to find them; undefined if none. */
  readonly nodes?: { readonly rows: number; readonly findRow: (rank: number) => Promise<string> };
}

/**
 * Finds the total of a list with any filter that its tree counts: reads the root of the tree, the newest rows, and the sort
 * keys of the tail. Without a root, all rows are the tail. The total of a window follows from the ranks of its ends.
 *
 * @param maxRows how many of the newest rows to read; 0 if the page does not need them
 */
async function readTotal(
  { range, tree, status, window }: CountedRange,
  maxRows: number,
  call: Call,
): Promise<Counted> {
  const { from = "", before } = window;
  const [root, newest] = await Promise.all([
    call((options) => readRoot(tree, options)),
    maxRows > 0 ? walk(range, { ...window, maxRows }, call) : { items: [], done: false },
  ]);
  const newestKeys = toSortKeys(newest);
  if (newest.done) return { total: newestKeys.length, newest, keys: newestKeys, listedFrom: "" };
  const bucket = status === undefined ? undefined : bucketOf(tree.list, status);
  const { watermark = "", bufferStart = "", entries = [], buffer = [] } = root ?? {};
  const tailStart = latest(watermark, from);
  const keys = newestKeys.filter((sk) => sk >= tailStart);
  const others = { from: tailStart, before: newestKeys.at(-1) ?? before, keysOnly: true };
  keys.push(...toSortKeys(await walk(range, others, call)));
  const bufferKeys = buffer.filter((row) => countEntries([row], bucket) > 0).map(({ start }) => start);
  keys.push(...bufferKeys.filter(isWithin(window)).toReversed());
  const listedFrom = latest(earliest(before ?? bufferStart, bufferStart), from);
  const inNodes = countEntries(entries, bucket);
  if (!root || inNodes === 0 || from >= bufferStart) return { total: keys.length, newest, keys, listedFrom };
  const { findRow, findRank } = rowFinder(tree, root, bucket, call);
  const [skipped, rows] = await Promise.all([
    from === "" ? 0 : findRank(from),
    listedFrom === bufferStart ? inNodes : findRank(listedFrom),
  ]);
  const total = keys.length + Math.max(0, rows - skipped);
  return { total, newest, keys, listedFrom, nodes: { rows, findRow } };
}

const toSortKeys = ({ items }: Segment) => items.map(({ sk }) => String(sk));

/** Reads a part of a list, newest first: `limit` rows after the `offset` newest ones. */
async function readPart(
  { range, window }: CountedRange,
  { keys, listedFrom, newest, nodes }: Counted,
  offset: number,
  limit: number,
  call: Call,
): Promise<readonly Item[]> {
  if (nodes && offset > 0 && offset >= keys.length) {
    const rank = nodes.rows - 1 - (offset - keys.length);
    const before = await nodes.findRow(rank);
    const { items } = await walk(range, { from: window.from, before, maxRows: limit }, call);
    return items;
  }
  // A row that was written after the sort keys were read is left out. It is not in the total, and it would displace the
  // oldest row of this part, which may be the last part.
  const listed = new Set(keys);
  const isListed = ({ sk }: Item) => String(sk) < listedFrom || listed.has(String(sk));
  const known = newest.items.filter(isListed).slice(offset);
  if (newest.done || known.length >= limit) return known.slice(0, limit);
  // The known rows are the newest ones, without gaps.
  const before = known.length > 0 ? String(newest.items.at(-1)?.sk) : (keys[offset - 1] ?? window.before);
  const bounds = { from: nodes ? window.from : listedFrom, before, maxRows: limit - known.length };
  const { items } = await walk(range, bounds, call, { isWanted: isListed });
  return [...known, ...items];
}
