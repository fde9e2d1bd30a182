import { isSourceOrChannelPartition, listPartition, sublistKey, sublistPrefix } from "../../dynamodb/keys.ts";
import { logMalformed } from "../../dynamodb/malformed-items.ts";
import type { Pace } from "../../dynamodb/pace.ts";
import { fromKey, keysOnly, queryAll, queryItems, withPrefix } from "../../dynamodb/read-pages.ts";
import type { Item } from "../../dynamodb/table-client.ts";
import { MalformedItemError } from "../../errors.ts";
import { type CountedOwner, endOfRows, type SublistOwner } from "../tree/counted-list.ts";
import { type Rows, readRows } from "../tree/rows.ts";
import { treeKey } from "../tree/tree-store.ts";
import type { KeyRange } from "./tree-part.ts";

/** How the rows of a list are read. */
export interface Reading {
  readonly pace: Pace;
  /** Called with items that are no rows; without it, they are logged. */
  readonly onMalformed?: (error: MalformedItemError) => void;
}

/** The most rows of a page; the table returns 1 MB at most. */
const pageRows = 10_000;

/** Reads the rows of a list in a range, page by page and consistently. Items that are no rows are named. */
export async function* readAllRows(
  list: CountedOwner,
  { start, until }: KeyRange,
  { pace, onMalformed = logMalformed }: Reading,
): AsyncGenerator<Rows> {
  const pk = listPartition(list.list.type, list.account);
  const name = (sk: unknown) => onMalformed(new MalformedItemError({ pk, sk }, "sk"));
  const end = until ?? endOfRows(list.list);
  for (let from: string | undefined = start; from !== undefined; ) {
    const bounds = { start: from, end, maxRows: pageRows };
    const page: Rows = await pace.retry(() => readRows(list, bounds));
    await pace.spend(page.units);
    page.others.forEach(name);
    yield page;
    from = page.next;
  }
  if (until !== undefined) return;
  for await (const items of queryItems({ ...fromKey(pk, end), ...keysOnly }, pace))
    for (const { sk } of items) name(sk);
}

/** The records of the sublists of a list that have trees. */
export const sublistRecords = (list: CountedOwner) => withPrefix(treeKey(list, "").pk, `${sublistPrefix}#`);

/** Reads the sublists of a list that have trees, by their records. */
export async function readSublists(list: CountedOwner, pace: Pace): Promise<SublistOwner[]> {
  const records = await queryAll(sublistRecords(list), pace);
  return records.flatMap((record) => (isRecordOf(list, record) ? { ...list, origin: record.origin } : []));
}

/** Whether an item is what a maintainer writes for a sublist of a list. */
export function isRecordOf(
  { account, list }: CountedOwner,
  record: Item,
): record is Item & { origin: string } {
  const { sk, origin } = record;
  return (
    isSourceOrChannelPartition(list.type, account, origin) && sublistKey(list.type, account, origin).sk === sk
  );
}
