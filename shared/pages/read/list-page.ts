import { indexes, listPartition, rowKey } from "../../dynamodb/keys.ts";
import { ifWellFormed } from "../../dynamodb/malformed-items.ts";
import { type Item, maxBatchKeys, readItems } from "../../dynamodb/table-client.ts";
import { withBackoff } from "../../dynamodb/throttling.ts";
import type { Page, RowsRequest } from "../page.ts";
import { type CountedList, isRowKey, type ListFilter } from "../tree/counted-list.ts";
import { findCounted } from "./counted-page.ts";
import { filteredRange } from "./counted-range.ts";
import { type Found, findPlain } from "./plain-page.ts";
import { hasAttributes, type Range, rangeId } from "./range.ts";
import { type AdmitLongList, type Call, withinBudget } from "./read-budget.ts";
import { isWithin, type Window } from "./window.ts";

/** Which rows of a list are asked for: those that match all that is defined. */
export interface ListRequest {
  readonly account: string;
  readonly list: CountedList;
  /** Only rows with one of these, as far as they are asked for. */
  readonly ids: readonly string[] | undefined;
  readonly isAsked?: (item: Item) => boolean;
  /** The partition of `by-parent` that has the rows. */
  readonly parent: string | undefined;
  readonly filter: ListFilter;
  readonly window: Window;
}

/**
 * A page of the selected rows by their creation, and their exact number. Malformed ones are counted and left out.
 *
 * @param toRecord throws MalformedItemError
 * @throws TooExpensiveError when the list would need too many calls or too much time
 */
export async function listPage<T>(
  asked: ListRequest,
  request: RowsRequest,
  toRecord: (item: Item) => T,
  admitLongList: AdmitLongList,
): Promise<Page<T>> {
  const { ids } = asked;
  if (ids) return toPage(takePage(await findByIds(asked, ids), "sk", request), request, toRecord);
  const { range, find } = selectRows(asked);
  const found = await withinBudget(rangeId(range), admitLongList, async (call) => {
    const { items, total } = await find(request, call);
    return { items: await completeRows(asked, items, call), total };
  });
  return toPage(found, request, toRecord);
}

/** The response of a list. @param toRecord throws MalformedItemError for an item, which is left out */
export function toPage<T>(
  { items, total }: Found,
  { page, limit }: RowsRequest,
  toRecord: (item: Item) => T,
): Page<T> {
  const data = items.flatMap((item) => ifWellFormed(() => toRecord(item)) ?? []);
  return { data, pagination: { page, limit, total } };
}

/** A page of rows of which all have been read, by an attribute, the newest first unless asked otherwise. */
export function takePage(
  items: readonly Item[],
  by: "sk" | "lastMessageAt",
  { page, limit, ascending }: RowsRequest,
): Found {
  const sorted = items.map((item) => ({ item, at: `${item[by]} ${item.sk}` }));
  sorted.sort((a, b) => (a.at < b.at === (ascending ?? false) ? -1 : 1));
  return {
    items: sorted.slice((page - 1) * limit, page * limit).map(({ item }) => item),
    total: items.length,
  };
}

/** Finds the rows of a page by their creation, as their range has them. */
export type FindRows = (request: RowsRequest, call: Call) => Promise<Found>;

/** The range with the selected rows, and how their pages are found. */
export function selectRows(asked: ListRequest): { readonly range: Range; readonly find: FindRows } {
  const { account, list, parent, filter, window } = asked;
  const counted = filteredRange(account, list, filter);
  const isCounted =
    parent === undefined && (filter.status === undefined || list.statuses.includes(filter.status));
  const range: Range =
    parent === undefined
      ? counted.range
      : {
          ...{ list, index: "by-parent", partition: parent, where: toConditions(asked) },
          rows: { pk: listPartition(list.type, account) },
        };
  const find: FindRows = (request, call) =>
    isCounted
      ? findCounted({ ...counted, window }, request, call)
      : findPlain({ range, window }, request, call);
  return { range, find };
}

/** Rows with the fields that their index does not copy. Those that have been deleted meanwhile are left out. */
export async function completeRows(
  { account, list }: ListRequest,
  rows: readonly Item[],
  call: Call,
): Promise<readonly Item[]> {
  if (!list.isLean) return rows;
  const found = new Map(rows.filter((row) => "lastMessageAt" in row).map((row) => [row.sk, row]));
  // What a read misses that is not consistent may be new.
  for (const consistent of [false, true]) {
    const missing = rows.filter(({ sk }) => !found.has(sk));
    for (let from = 0; from < missing.length; from += maxBatchKeys) {
      const keys = missing
        .slice(from, from + maxBatchKeys)
        .map(({ sk }) => rowKey(list.type, account, String(sk)));
      for (const item of await call((options) => readItems(keys, consistent, options)))
        found.set(item.sk, item);
    }
  }
  // A row stays as the index lists it: the item may have another status by now.
  return rows.filter(({ sk }) => found.has(sk)).map((row) => ({ ...found.get(row.sk), ...row }));
}

/** The attributes that the selected rows have. */
export const toConditions = ({ list, filter: { status, sourceOrChannel } }: ListRequest) => ({
  status,
  [list.attribute]: sourceOrChannel,
});

/** The rows with these ids that are selected, in any order; read consistently. */
export function findByIds(asked: ListRequest, ids: readonly string[]): Promise<readonly Item[]> {
  const { account, list, parent, window, isAsked = () => true } = asked;
  const keys = [...new Set(ids)]
    .filter((id) => isRowKey(list, id) && isWithin(window)(id))
    .map((id) => rowKey(list.type, account, id));
  const where = { ...toConditions(asked), [indexes["by-parent"]]: parent };
  return withBackoff(`ids ${listPartition(list.type, account)}`, "Too many ids are read at once.", async () =>
    (await readItems(keys, true)).filter(hasAttributes(where)).filter(isAsked),
  );
}
