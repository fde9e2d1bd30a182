import { TooExpensiveError } from "../../dynamodb/dynamodb-errors.ts";
import { ifValid } from "../../dynamodb/invalid-items.ts";
import { type Item, readItems } from "../../dynamodb/table-client.ts";
import { invalidInput } from "../../errors.ts";
import type { Page, RowsRequest } from "../page.ts";
import { findByActivity } from "./activity-page.ts";
import { type ListPlan, type ListRequest, planList } from "./choose-index.ts";
import { completeRows, maxCompleted, readComplete } from "./complete-rows.ts";
import { findCounted } from "./counted-page.ts";
import { type Found, findPlain, takePage } from "./plain-page.ts";
import { isTooMuch } from "./range.ts";
import { type AdmitLongList, type Call, withinBudget } from "./read-budget.ts";
import { isWithin } from "./window.ts";

/**
 * A page of the rows that are asked for, and their exact number. Invalid ones are counted and left out.
 *
 * @param toRecord throws InvalidItemError
 * @throws ApiError `invalid_input` when too many rows are asked for
 * @throws TooExpensiveError when the list would need too many calls or read units, or too much time
 */
export async function readList<T>(
  asked: ListRequest,
  request: RowsRequest,
  toRecord: (item: Item) => T,
  admitLongList: AdmitLongList,
): Promise<Page<T>> {
  const plan = planList(asked, request.byActivity);
  const { items, total } = await withinBudget(plan.id, admitLongList, (call) =>
    findPage(asked, plan, request, call),
  ).catch((error: unknown) => {
    if (!plan.wayOut || !isTooMuch(error)) throw error;
    // Another attempt would not need less.
    throw invalidInput([{ in: "query", code: "out_of_range", ...plan.wayOut }]);
  });
  const { page, limit } = request;
  const data = items.flatMap((item) => ifValid(() => toRecord(item)) ?? []);
  return { data, pagination: { page, limit, total } };
}

async function findPage(
  asked: ListRequest,
  plan: ListPlan,
  request: RowsRequest,
  call: Call,
): Promise<Found> {
  const isActive = ({ lastMessageAt }: Item) => isWithin(asked.active ?? {})(String(lastMessageAt));
  const complete = async ({ items, total }: Found) => ({
    items: await completeRows(asked, items, call),
    total,
  });
  switch (plan.kind) {
    case "ids": {
      const items = await call((options) => readItems(plan.keys, true, options));
      return takePage(items.filter(plan.where).filter(isActive), request);
    }
    case "plain": {
      if (!plan.needsActivity) return complete(await findPlain(plan, request, call));
      const rows = await readComplete(asked, plan, maxCompleted.alone, call);
      if (rows) return takePage(rows.filter(isActive), request);
      throw new TooExpensiveError("too_many_reads", "The list has too many rows for this order.");
    }
    case "counted":
      return complete(await findCounted(plan, request, call));
    case "activity":
      return findByActivity(asked, plan, request, call);
  }
}
