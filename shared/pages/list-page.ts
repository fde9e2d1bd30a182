import { indexes, rowKey } from "../dynamodb/keys.ts";
import { type Item, readItem } from "../dynamodb/table-client.ts";
import { countedPage } from "./counted-page.ts";
import { filteredRange, parentRange } from "./counted-range.ts";
import { groupPage } from "./group-page.ts";
import type { Page, PageRequest } from "./page.ts";
import type { AdmitLongList } from "./read-budget.ts";
import type { CountedList, Filter } from "./tree/counted-list.ts";
import { isWithin, type Window } from "./window.ts";

/** Which rows of a list are asked for: those that match all that is defined. */
export interface Selection {
  readonly account: string;
  readonly list: CountedList;
  readonly id: string | undefined;
  /** The partition of `by-parent` that has the rows. */
  readonly parent: string | undefined;
  readonly filter: Filter;
  readonly window: Window;
}

/**
 * A page of the selected rows, newest first, and their exact number.
 *
 * @throws TooExpensiveError when the list would need too many calls or too much time
 */
export function listPage<T>(
  selection: Selection,
  request: PageRequest,
  toRecord: (item: Item) => T,
  admitLongList: AdmitLongList,
): Promise<Page<T>> {
  const { account, list, id, parent, filter, window } = selection;
  if (id !== undefined) return itemPage(selection, id, request, toRecord);
  if (parent === undefined)
    return countedPage({ ...filteredRange(account, list, filter), window }, request, toRecord, admitLongList);
  const counted = parentRange(account, list, parent);
  const isUnfiltered = filter.status === undefined && filter.sourceOrChannel === undefined;
  if (isUnfiltered) return countedPage({ ...counted, window }, request, toRecord, admitLongList);
  return groupPage({ owner: counted.tree, filter, window }, request, toRecord, admitLongList);
}

/** The page of the row with an id, if it is selected; read consistently. */
async function itemPage<T>(
  { account, list, parent, filter: { status, sourceOrChannel }, window }: Selection,
  id: string,
  request: PageRequest,
  toRecord: (item: Item) => T,
): Promise<Page<T>> {
  const item = await readItem(rowKey(list.type, account, id));
  const conditions = {
    status,
    [list.attribute]: sourceOrChannel,
    [indexes["by-parent"]]: parent,
  };
  const isSelected =
    item &&
    isWithin(window)(id) &&
    Object.entries(conditions).every(([name, value]) => value === undefined || item[name] === value);
  const data = isSelected ? [toRecord(item)] : [];
  return { data: request.page === 1 ? data : [], pagination: { ...request, total: data.length } };
}
