import { type Found, type RowsRequest, takePage } from "../page.ts";
import { type CountedOwner, earliest, endOfRows, keyAt } from "../tree/counted-list.ts";
import { countEntries } from "../tree/entry.ts";
import { readValidRoot } from "../tree/tree-store.ts";
import type { ListRange, ListRequest, TimedRows } from "./choose-index.ts";
import { maxCompleted, readComplete } from "./complete-rows.ts";
import { findByCreation } from "./counted-page.ts";
import type { Bounds, Range } from "./range.ts";
import type { Call } from "./read-budget.ts";
import { rowReader, walk } from "./row-reader.ts";
import { isWithin } from "./window.ts";

/**
 * Finds the rows of a page by their last message. Rows move while they are read, because each message makes its
 * conversation the newest one: the index and the trees, which count, may differ by them.
 *
 * @param own the same rows by their creation, which counts them
 * @param range those of the index by activity
 */
export async function findByActivity(
  asked: ListRequest,
  own: ListRange,
  range: Range,
  request: RowsRequest,
  call: Call,
): Promise<Found> {
  const { page, limit, ascending } = request;
  const counting = findByCreation(own, { page: 1, limit: 1 }, call);
  const read = async (maxRows: number, others?: number) => {
    const { items } = await walk(range, { ascending, maxRows }, call, { others });
    return items.slice((page - 1) * limit, page * limit);
  };
  if (!range.where) {
    const [{ total }, items] = await Promise.all([counting, read(page * limit)]);
    return { items, total };
  }
  const { account, list } = asked;
  const [{ total }, { all }] = await Promise.all([counting, countRoot({ account, list }, call)]);
  if ((page - 1) * limit >= total) return { items: [], total };
  // A late index has rows that are not in the total any more: they do not take the places of others.
  const wanted = Math.min(page * limit, total);
  // All rows of the filter from their own index, and their items, in place of the rows by their last message among which
  // those of the page are. In read units, a row and its item cost 0.55, and a row by its last message 0.04.
  const isOwnCheaper = 0.55 * total < (0.04 * wanted * all) / total;
  if (total <= maxCompleted.besideTotal && isOwnCheaper) {
    const rows = await readComplete(asked, own, maxCompleted.besideTotal, call);
    // A late index can have more rows than the trees.
    if (rows) return { ...takePage(rows, request), total };
  }
  return { items: await read(wanted, all / total), total };
}

/**
 * The number of all rows of a tree but those that are not counted yet, as its root has it, and about how many of them were
 * created between two sort keys; 0 if the tree is damaged.
 */
async function countRoot(tree: CountedOwner, call: Call, from?: string, before?: string) {
  const { entries = [], buffer = [] } = (await call((options) => readValidRoot(tree, options))) ?? {};
  const rows = [...entries, ...buffer];
  return {
    all: countEntries(rows),
    created: countEntries(rows.filter(({ start }) => isWithin({ from, before })(start))),
  };
}

/**
 * Finds the rows of a page before or after a time, or between two. They are counted by what seems to be the shorter part of the
 * index: the rows in the window, or all others.
 *
 * @param timed the times, and the index
 */
export async function findInWindow(
  { list, account }: ListRequest,
  own: ListRange,
  range: Range,
  { window: { from, before } }: TimedRows,
  request: RowsRequest,
  call: Call,
): Promise<Found> {
  const { page, limit, ascending } = request;
  const read = (bounds: Bounds) => rowReader(range, bounds, call, { others: 1 });
  const inside = read({ from, before, ascending });
  const toFound = (total: number) => ({
    items: [...inside.rows.values()].slice((page - 1) * limit, page * limit),
    total,
  });
  if (await inside.readTo(page * limit)) return toFound(inside.rows.size);
  const [after, end] = [from, before].map((time) => time && keyAt(list, Date.parse(time)));
  // Most rows have their last message soon after their creation.
  const { all, created } = await countRoot({ account, list }, call, after, end);
  // Without an end, nothing is after it, and without a beginning nothing before it: no time lies between these bounds.
  const newer = read({ from: before ?? "~" });
  const older = read({ before: from ?? "" });
  const outside = {
    readOn: async () => (await newer.readOn()) && (await older.readOn()),
    readTo: async () => (await newer.readTo()) && (await older.readTo()),
  };
  const isInsideFirst = all === 0 || 2 * created < all;
  const [first, second] = isInsideFirst ? [inside, outside] : [outside, inside];
  // A call each shows whether one of them is short, whatever the root says.
  const counted = !(await first.readOn()) && (await second.readOn()) ? second : first;
  await counted.readTo();
  if (counted === inside) return toFound(inside.rows.size);
  // Rows newer than the end are not counted: the index may lack them.
  const window = {
    ...own.window,
    before: earliest(end ?? endOfRows(list), own.window.before ?? endOfRows(list)),
  };
  const { total } = await findByCreation({ ...own, window }, { page: 1, limit: 1 }, call);
  const others = [...newer.rows.keys(), ...older.rows.keys()].filter((sk) => isWithin(window)(sk));
  return toFound(total - new Set(others).size);
}
