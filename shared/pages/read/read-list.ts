import { TooExpensiveError } from "../../dynamodb/dynamodb-errors.ts";
import { ifValid } from "../../dynamodb/invalid-items.ts";
import { accountPartition, keysOf, rowKey } from "../../dynamodb/keys.ts";
import { type Item, readItems } from "../../dynamodb/table-client.ts";
import { invalidInput } from "../../errors.ts";
import { admitLongList } from "../../rate-limit/list-admission.ts";
import { type Page, type RowsRequest, takePage } from "../page.ts";
import { isRowKey } from "../tree/counted-list.ts";
import { findByActivity, findInWindow } from "./activity-page.ts";
import { chooseRange, type ListRequest, type TimedRows, toCondition, wayOuts } from "./choose-index.ts";
import { completeRows, maxCompleted, readComplete } from "./complete-rows.ts";
import { findByCreation } from "./counted-page.ts";
import { isTooMuch, rangeId } from "./range.ts";
import { type Call, withinBudget } from "./read-budget.ts";
import { walk } from "./row-reader.ts";
import { isBounded, isWithin } from "./window.ts";

/**
 * Reads a page of the rows that are asked for, and their exact number. Invalid rows are counted, but left out of the page.
 *
 * @param read throws InvalidItemError if the item is invalid
 * @throws ApiError `invalid_input` when too many rows are asked for
 * @throws TooExpensiveError when the list would need too many calls or read units, or too much time
 */
export async function readList<T>(
  asked: ListRequest,
  request: RowsRequest,
  read: (item: Item) => T,
): Promise<Page<T>> {
  const { id, wayOut, find } = planList(asked, request);
  const admit = () => admitLongList(asked.account);
  const { items, total } = await withinBudget(id, admit, find).catch((error: unknown) => {
    if (!wayOut || !isTooMuch(error)) throw error;
    // A retry would not need less.
    throw invalidInput([{ in: "query", code: "out_of_range", ...wayOut }]);
  });
  const { page, limit } = request;
  const data = items.flatMap((item) => ifValid(() => read(item)) ?? []);
  return { data, pagination: { page, limit, total } };
}

const isTimed = (timed: TimedRows | undefined) => (item: Item) => {
  if (!timed) return true;
  const time = item[keysOf(timed.index).sort];
  return typeof time === "string" && isWithin(timed.window)(time);
};

/** @returns also an id of what is read: after a throttle, lists with the same id back off together */
function planList(asked: ListRequest, request: RowsRequest) {
  const { account, list, ids, parent, filter, window, timed } = asked;
  const pk = accountPartition(list.type, account);
  const where = toCondition(asked);
  if (ids) {
    const known = [...new Set(ids)].filter((id) => isRowKey(list, id));
    const keys = known.map((id) => rowKey(list.type, account, id));
    const find = async (call: Call) => {
      const items = await call((options) => readItems(keys, true, options));
      return takePage(items.filter(where).filter(isTimed(timed)), request);
    };
    return { id: `ids ${pk}`, find };
  }
  const own = chooseRange(asked);
  const id = rangeId(own.range);
  if (!timed) {
    const find = async (call: Call) => {
      const { items, total } = await findByCreation(own, request, call);
      return { items: await completeRows(asked, items, call), total };
    };
    return { id, wayOut: own.tree ? undefined : wayOuts.creation, find };
  }
  const range = { list, index: timed.index, partition: pk, rows: { pk } };
  const filtered = { ...range, where };
  // Rows move to later times: a row that moves during the read is met again, and not missed.
  const oldestFirst = { ...timed.window, ascending: true };
  if (timed.index === "by-waiting") {
    const find = async (call: Call) => {
      const waiting = await walk(filtered, oldestFirst, call);
      const { items, total } = takePage(waiting.items, request);
      return { items: await completeRows(asked, items, call), total };
    };
    return { id: rangeId(range), wayOut: wayOuts.waiting, find };
  }
  if (parent !== undefined) {
    const find = async (call: Call) => {
      const rows = await readComplete(asked, own, maxCompleted.ofLead, call);
      if (rows) return takePage(rows.filter(isTimed(timed)), request);
      throw new TooExpensiveError("too_many_reads", "The list has too many rows for this order.");
    };
    return { id, wayOut: request.by ? wayOuts.sort : wayOuts.creation, find };
  }
  if (isBounded(timed.window)) {
    const find = request.by
      ? (call: Call) => findInWindow(asked, own, filtered, timed, request, call)
      : async (call: Call) => takePage((await walk(filtered, oldestFirst, call)).items, request);
    return { id: rangeId(range), wayOut: wayOuts.change(list), find };
  }
  if (!isBounded(filter) && !isBounded(window))
    return { id: rangeId(range), find: (call: Call) => findByActivity(asked, own, range, request, call) };
  // An inbox without a filter must not back off because of filtered lists, which cost more.
  const filteredId = `${rangeId(range)} filtered`;
  const find = (call: Call) => findByActivity(asked, own, filtered, request, call);
  return { id: filteredId, wayOut: wayOuts.sort, find };
}
