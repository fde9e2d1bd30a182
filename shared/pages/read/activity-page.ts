import type { Item } from "../../dynamodb/table-client.ts";
import { type Found, type RowsRequest, takePage } from "../page.ts";
import { countEntries } from "../tree/entry.ts";
import { readValidRoot } from "../tree/tree-store.ts";
import type { ListRange, ListRequest } from "./choose-index.ts";
import { maxCompleted, readComplete } from "./complete-rows.ts";
import { findByCreation } from "./counted-page.ts";
import { leastItems, type Range, readSegments } from "./range.ts";
import type { Call } from "./read-budget.ts";

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
  const { page, limit } = request;
  const counting = findByCreation(own, { page: 1, limit: 1 }, call);
  const toPage = (items: readonly Item[], total: number) => ({
    items: items.slice((page - 1) * limit, page * limit),
    total,
  });
  if (!range.where) {
    const reading = readActive(range, asked, request, call, page * limit);
    const [{ total }, items] = await Promise.all([counting, reading]);
    return toPage(items, total);
  }
  const [{ total }, all] = await Promise.all([counting, countAll(asked, call)]);
  if ((page - 1) * limit >= total) return { items: [], total };
  const wanted = Math.min(page * limit, total);
  // All rows of the filter from their own index, and their items, in place of the rows by their last message among which
  // those of the page are. In read units, a row and its item cost 0.55, and a row by its last message 0.025.
  const isOwnCheaper = 0.55 * total < (0.025 * wanted * all) / total;
  if (total <= maxCompleted.besideTotal && isOwnCheaper) {
    const rows = await readComplete(asked, own, maxCompleted.besideTotal, call);
    // A late index can have more rows than the trees.
    if (rows) return { ...takePage(rows, request), total };
  }
  return toPage(await readActive(range, asked, request, call, wanted, all / total), total);
}

/** The number of all rows of a list but those that are not counted yet; 0 if its tree is damaged. */
async function countAll({ account, list }: ListRequest, call: Call): Promise<number> {
  const { entries = [], buffer = [] } =
    (await call((options) => readValidRoot({ account, list }, options))) ?? {};
  return countEntries([...entries, ...buffer]);
}

/**
 * Reads the rows that are asked for from the index by activity, up to a number of them. A late index has rows that are not in
 * the total any more: they do not take the places of others.
 *
 * @param others how many rows there are for each of them
 */
export async function readActive(
  range: Range,
  { active = {} }: ListRequest,
  { ascending }: RowsRequest,
  call: Call,
  wanted = Number.POSITIVE_INFINITY,
  others = 1,
): Promise<readonly Item[]> {
  // By sort key: a row that moves while it is read can be met twice, and stays in its first place.
  const rows = new Map<unknown, Item>();
  const least = range.where ? leastItems : 1;
  const missing = () => Math.max(Math.ceil((wanted - rows.size) * others), least);
  const bounds = { before: active.before, downTo: active.from, ascending };
  for await (const { items } of readSegments(range, bounds, call, missing)) {
    for (const item of items) if (!rows.has(item.sk)) rows.set(item.sk, item);
    if (rows.size >= wanted) break;
  }
  return [...rows.values()].slice(0, wanted);
}
