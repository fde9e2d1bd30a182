import { TooExpensiveError } from "../../dynamodb/dynamodb-errors.ts";
import { ifValid } from "../../dynamodb/invalid-items.ts";
import { accountPartition, keysOf, rowKey } from "../../dynamodb/keys.ts";
import { type Item, readItems } from "../../dynamodb/table-client.ts";
import { invalidInput } from "../../errors.ts";
import { type Page, takePage } from "../page.ts";
import { isRowKey } from "../tree/counted-list.ts";
import { findByActivity, findInWindow } from "./activity-page.ts";
import { chooseRange, type ListRequest, type TimedRows, toCondition, wayOuts } from "./choose-index.ts";
import { completeRows, maxCompleted, readComplete } from "./complete-rows.ts";
import { findByCreation } from "./counted-page.ts";
import { rangeId } from "./range.ts";
import { type Call, isTooMuch, withinBudget } from "./read-budget.ts";
import { walk } from "./row-reader.ts";
import { isBounded, isWithin } from "./window.ts";

/**
 * Reads a page of the rows that are asked for, and their exact number. Invalid rows are counted, but left out of the page.
 *
 * @param read throws InvalidItemError if the item is invalid
 * @throws ApiError `invalid_input` when too many rows are asked for
 * @throws TooExpensiveError when the list would need too many calls or read units, or too much time
 */
export async function readList<T>(asked: ListRequest, read: (item: Item) => T): Promise<Page<T>> {
  const { id, wayOut, find } = planList(asked);
  const findComplete = async (call: Call) => {
    const { items, total } = await find(call);
    return { items: await completeRows(asked, items, call), total };
  };
  const { items, total } = await withinBudget(asked.account, id, findComplete).catch((error: unknown) => {
    if (!wayOut || !isTooMuch(error)) throw error;
    // A retry would not need less.
    throw invalidInput([{ in: "query", code: "out_of_range", ...wayOut }]);
  });
  const { page, limit } = asked;
  const data = items.flatMap((item) => ifValid(() => read(item)) ?? []);
  return { data, pagination: { page, limit, total } };
}

const isTimed = (timed: TimedRows | undefined) => (item: Item) => {
  if (!timed) return true;
  const time = item[keysOf(timed.index).sort];
  return typeof time === "string" && isWithin(timed.window)(time);
};

/** @returns also an id of what is read: after a throttle, lists with the same id back off together */
function planList(asked: ListRequest) {
  const { account, list, ids, parent, filter, window, timed } = asked;
  const pk = accountPartition(list.type, account);
  const where = toCondition(asked);
  if (ids) {
    const known = [...new Set(ids)].filter((id) => isRowKey(list, id));
    const keys = known.map((id) => rowKey(list.type, account, id));
    const find = async (call: Call) => {
      const items = await call((options) => readItems(keys, true, options));
      return takePage(items.filter(where).filter(isTimed(timed)), asked);
    };
    return { id: `ids ${pk}`, find };
  }
  const byCreation = chooseRange(asked);
  const id = rangeId(byCreation.range);
  if (!timed) {
    const find = (call: Call) => findByCreation(byCreation, asked, call);
    return { id, wayOut: byCreation.tree ? undefined : wayOuts.creation, find };
  }
  const allByTime = { list, index: timed.index, partition: pk, pk };
  const byTime = { ...allByTime, where };
  const timeId = rangeId(allByTime);
  // Rows move to later times: a row that moves during the read is met again, and not missed.
  const findAll = async (call: Call) =>
    takePage((await walk(byTime, { ...timed.window, ascending: true }, call)).items, asked);
  if (timed.index === "by-waiting") return { id: timeId, wayOut: wayOuts.waiting, find: findAll };
  if (parent !== undefined) {
    const find = async (call: Call) => {
      const rows = await readComplete(asked, byCreation, maxCompleted.ofLead, call);
      if (rows) return takePage(rows.filter(isTimed(timed)), asked);
      throw new TooExpensiveError("too_many_reads", "The list has too many rows for this order.");
    };
    return { id, wayOut: asked.by ? wayOuts.sort : wayOuts.creation, find };
  }
  if (isBounded(timed.window)) {
    const findPart = (call: Call) => findInWindow(asked, byCreation, byTime, timed, call);
    return { id: timeId, wayOut: wayOuts.change(list), find: asked.by ? findPart : findAll };
  }
  const isFiltered = isBounded(filter) || isBounded(window);
  const range = isFiltered ? byTime : allByTime;
  const find = (call: Call) => findByActivity(asked, byCreation, range, call);
  // An inbox without a filter must not back off because of filtered lists, which cost more.
  return isFiltered ? { id: `${timeId} filtered`, wayOut: wayOuts.sort, find } : { id: timeId, find };
}
