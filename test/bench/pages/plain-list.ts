import type { Item } from "../../../shared/dynamodb/table-client.ts";
import { filteredRange } from "../../../shared/pages/read/counted-range.ts";
import { readPages } from "../../../shared/pages/read/range.ts";
import type { Call } from "../../../shared/pages/read/read-budget.ts";
import { countedLists } from "../../../shared/pages/tree/counted-list.ts";
import type { Account } from "./account.ts";
import type { LeadRow } from "./lead-rows.ts";
import { type List, leadList } from "./read-list.ts";

const { signal } = new AbortController();
const unbounded: Call = (send) => send({ abortSignal: signal });

/** The leads of an account, whose pages are found by reading all of them: what the counted trees save. */
export function plainList(account: Account, filter: Partial<LeadRow>): List {
  const { status, source: sourceOrChannel } = filter;
  const { range } = filteredRange(account.name, countedLists.lead, { status, sourceOrChannel });
  const read: List["read"] = async ({ page, limit }) => {
    const rows: Item[] = [];
    for await (const { items } of readPages(range, {}, unbounded)) rows.push(...items);
    const data = rows.slice((page - 1) * limit, page * limit);
    return { data, pagination: { page, limit, total: rows.length } };
  };
  return { ...leadList(account, filter), read };
}
