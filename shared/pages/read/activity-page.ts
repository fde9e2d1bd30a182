import { type Found, takePage } from "../page.ts";
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
 * Finds the rows of a page by their last message or change. Rows move while they are read, because each message makes its
 * conversation the newest one: by such rows, the index may differ from the trees, which count them.
 *
 * @param byCreation the rows by their creation, with the tree that counts them
 * @param byTime the same rows in the index `by-activity`
 */
export async function findByActivity(
  asked: ListRequest,
  byCreation: ListRange,
  byTime: Range,
  call: Call,
): Promise<Found> {
  const { account, list, page, limit, ascending } = asked;
  const counting = findByCreation(byCreation, { page: 1, limit: 1 }, call);
  const read = async (maxRows: number, others?: number) => {
    const { items } = await walk(byTime, { ascending, maxRows }, call, { others });
    return items.slice((page - 1) * limit, page * limit);
  };
  if (!byTime.where) {
    const [{ total }, items] = await Promise.all([counting, read(page * limit)]);
    return { items, total };
  }
  const [{ total }, { all }] = await Promise.all([counting, countRoot({ account, list }, call)]);
  if ((page - 1) * limit >= total) return { items: [], total };
  // A late index may have rows that are no longer in the total: they must not take the places of other rows.
  const wanted = Math.min(page * limit, total);
  // Either all rows of the filter are read from their own index and completed from their items, for 0.55 read units a row;
  // or rows with any values are read by their last message until the page is full, for 0.04 read units a row.
  const isOwnCheaper = 0.55 * total < (0.04 * wanted * all) / total;
  if (total <= maxCompleted.besideTotal && isOwnCheaper) {
    const rows = await readComplete(asked, byCreation, maxCompleted.besideTotal, call);
    // A late index can have more rows than the trees.
    if (rows) return { ...takePage(rows, asked), total };
  }
  return { items: await read(wanted, all / total), total };
}

/**
 * Reads from the root of a tree how many rows are counted, and about how many of these were created between two sort keys;
 * 0 if the tree is missing or damaged.
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
 * Finds the rows of a page whose time of change is in a window. They are counted by reading what seems to be the shorter
 * part of the index: the rows in the window, or all others.
 */
export async function findInWindow(
  { list, account, page, limit, ascending }: ListRequest,
  byCreation: ListRange,
  byTime: Range,
  { window: { from, before } }: TimedRows,
  call: Call,
): Promise<Found> {
  const read = (bounds: Bounds) => rowReader(byTime, bounds, call, { others: 1 });
  const inside = read({ from, before, ascending });
  const toFound = (total: number) => ({
    items: [...inside.rows.values()].slice((page - 1) * limit, page * limit),
    total,
  });
  if (await inside.readTo(page * limit)) return toFound(inside.rows.size);
  const [after, end] = [from, before].map((time) => time && keyAt(list, Date.parse(time)));
  // Most rows have their last message soon after their creation.
  const { all, created } = await countRoot({ account, list }, call, after, end);
  // An open end of the window has no rows outside: no time is after `~` or before the empty text.
  const newer = read({ from: before ?? "~" });
  const older = read({ before: from ?? "" });
  const outside = {
    readOn: async () => (await newer.readOn()) && (await older.readOn()),
    readTo: async () => (await newer.readTo()) && (await older.readTo()),
  };
  const isInsideFirst = all === 0 || 2 * created < all;
  const [first, second] = isInsideFirst ? [inside, outside] : [outside, inside];
  // One call for each part shows whether the part is short, even if the root suggests otherwise.
  const counted = !(await first.readOn()) && (await second.readOn()) ? second : first;
  await counted.readTo();
  if (counted === inside) return toFound(inside.rows.size);
  // Rows that were created after the end are not counted: the index may lack them.
  const window = {
    ...byCreation.window,
    before: earliest(end ?? endOfRows(list), byCreation.window.before ?? endOfRows(list)),
  };
  const { total } = await findByCreation({ ...byCreation, window }, { page: 1, limit: 1 }, call);
  const others = [...newer.rows.keys(), ...older.rows.keys()].filter((sk) => isWithin(window)(sk));
  return toFound(total - new Set(others).size);
}
