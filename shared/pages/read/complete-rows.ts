import { cut } from "../../cut.ts";
import { rowKey } from "../../dynamodb/keys.ts";
import { type Item, maxBatchKeys, readItems } from "../../dynamodb/table-client.ts";
import type { ListRange, ListRequest } from "./choose-index.ts";
import type { Call } from "./read-budget.ts";
import { walk } from "./row-reader.ts";

/**
 * The most rows that a list completes. `ofLead`: of all conversations of a lead, so that the list does not become long.
 * `besideTotal`: of a list that also finds its total, so that its calls suffice.
 */
export const maxCompleted = { ofLead: 400, besideTotal: 600 };

/** Reads and completes all rows of a range; undefined if there are more than `most`. */
export async function readComplete(
  asked: ListRequest,
  { range, window }: ListRange,
  most: number,
  call: Call,
): Promise<readonly Item[] | undefined> {
  const { items } = await walk(range, { ...window, maxRows: most + 1 }, call);
  return items.length <= most ? completeRows(asked, items, call) : undefined;
}

/** Adds to rows the fields that their index does not copy. Rows that were deleted meanwhile are left out. */
export async function completeRows(
  { account, list }: Pick<ListRequest, "account" | "list">,
  rows: readonly Item[],
  call: Call,
): Promise<readonly Item[]> {
  // `activeAt` is a key of one index alone. For leads, every index copies the same time in `details`.
  if (!list.isLean) return rows.map((row) => ({ activeAt: Object(row.details).updatedAt, ...row }));
  const found = new Map(rows.filter((row) => "messageCount" in row).map((row) => [row.sk, row]));
  // A row that an eventually consistent read misses may be new.
  for (const consistent of [false, true]) {
    const missing = rows.filter(({ sk }) => !found.has(sk));
    const keys = missing.map(({ sk }) => rowKey(list.type, account, String(sk)));
    for (const batch of cut(keys, maxBatchKeys))
      for (const item of await call((options) => readItems(batch, consistent, options)))
        found.set(item.sk, item);
  }
  // A row stays as the index lists it: the item may have another status by now.
  return rows.filter(({ sk }) => found.has(sk)).map((row) => ({ ...found.get(row.sk), ...row }));
}
