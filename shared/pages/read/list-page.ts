import { indexes, listPartition, rowKey } from "../../dynamodb/keys.ts";
import { ifWellFormed } from "../../dynamodb/malformed-items.ts";
import { type Item, readItems } from "../../dynamodb/table-client.ts";
import { withBackoff } from "../../dynamodb/throttling.ts";
import type { Page, PageRequest } from "../page.ts";
import { type CountedList, isRowKey, type ListFilter } from "../tree/counted-list.ts";
import { findCounted } from "./counted-page.ts";
import { filteredRange } from "./counted-range.ts";
import { type Found, findPlain } from "./plain-page.ts";
import { hasAttributes, type Range, rangeId } from "./range.ts";
import { type AdmitLongList, withinBudget } from "./read-budget.ts";
import { isWithin, type Window } from "./window.ts";

/** Which rows of a list are asked for: those that match all that is defined. */
interface ListRequest {
  readonly account: string;
  readonly list: CountedList;
  /** Only rows with one of these. */
  readonly ids: readonly string[] | undefined;
  /** The partition of `by-parent` that has the rows. */
  readonly parent: string | undefined;
  readonly filter: ListFilter;
  readonly window: Window;
}

/**
 * A page of the selected rows, newest first, and their exact number. Malformed ones are counted and left out.
 *
 * @param toRecord throws MalformedItemError
 * @throws TooExpensiveError when the list would need too many calls or too much time
 */
export async function listPage<T>(
  asked: ListRequest,
  request: PageRequest,
  toRecord: (item: Item) => T,
  admitLongList: AdmitLongList,
): Promise<Page<T>> {
  const { ids } = asked;
  const { items, total } = ids
    ? await findByIds(asked, ids, request)
    : await findRows(asked, request, admitLongList);
  const data = items.flatMap((item) => ifWellFormed(() => toRecord(item)) ?? []);
  return { data, pagination: { ...request, total } };
}

function findRows(asked: ListRequest, request: PageRequest, admitLongList: AdmitLongList): Promise<Found> {
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
  return withinBudget(rangeId(range), admitLongList, (call) =>
    isCounted
      ? findCounted({ ...counted, window }, request, call)
      : findPlain({ range, window }, request, call),
  );
}

/** The attributes that the selected rows have. */
const toConditions = ({ list, filter: { status, sourceOrChannel } }: ListRequest) => ({
  status,
  [list.attribute]: sourceOrChannel,
});

/** The rows with these ids that are selected, newest first; read consistently. */
function findByIds(asked: ListRequest, ids: readonly string[], { page, limit }: PageRequest): Promise<Found> {
  const { account, list, parent, window } = asked;
  const keys = [...new Set(ids)]
    .filter((id) => isRowKey(list, id) && isWithin(window)(id))
    .map((id) => rowKey(list.type, account, id));
  const where = { ...toConditions(asked), [indexes["by-parent"]]: parent };
  return withBackoff(
    `ids ${listPartition(list.type, account)}`,
    "Too many ids are read at once.",
    async () => {
      const found = (await readItems(keys, true)).filter(hasAttributes(where));
      found.sort((a, b) => (String(a.sk) < String(b.sk) ? 1 : -1));
      return { items: found.slice((page - 1) * limit, page * limit), total: found.length };
    },
  );
}
