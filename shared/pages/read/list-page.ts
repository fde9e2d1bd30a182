import { indexes, rowKey } from "../../dynamodb/keys.ts";
import { type Item, readItem } from "../../dynamodb/table-client.ts";
import type { Page, PageRequest } from "../page.ts";
import type { CountedList, Filter } from "../tree/counted-list.ts";
import { countedPage } from "./counted-page.ts";
import { filteredRange } from "./counted-range.ts";
import { plainPage } from "./plain-page.ts";
import type { AdmitLongList } from "./read-budget.ts";
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
  if (parent === undefined) {
    const counted = { ...filteredRange(account, list, filter), window };
    const isCounted = filter.status === undefined || list.statuses.includes(filter.status);
    const readPage = isCounted ? countedPage : plainPage;
    return readPage(counted, request, toRecord, admitLongList);
  }
  const range = { index: "by-parent", partition: parent, where: toConditions(selection) } as const;
  return plainPage({ range, window }, request, toRecord, admitLongList);
}

/** The attributes that the selected rows have. */
const toConditions = ({ list, filter: { status, sourceOrChannel } }: Selection) => ({
  status,
  [list.attribute]: sourceOrChannel,
});

/** The page of the row with an id, if it is selected; read consistently. */
async function itemPage<T>(
  selection: Selection,
  id: string,
  request: PageRequest,
  toRecord: (item: Item) => T,
): Promise<Page<T>> {
  const { account, list, parent, window } = selection;
  const item = await readItem(rowKey(list.type, account, id));
  const conditions = { ...toConditions(selection), [indexes["by-parent"]]: parent };
  const isSelected =
    item &&
    isWithin(window)(id) &&
    Object.entries(conditions).every(([name, value]) => value === undefined || item[name] === value);
  const data = isSelected ? [toRecord(item)] : [];
  return { data: request.page === 1 ? data : [], pagination: { ...request, total: data.length } };
}
