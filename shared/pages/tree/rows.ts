import { cut } from "../../cut.ts";
import { accountPartition, isLabelPartition, rowKey } from "../../dynamodb/keys.ts";
import { unpaced } from "../../dynamodb/pace.ts";
import { between, queryPages } from "../../dynamodb/read-pages.ts";
import type { Retry } from "../../dynamodb/retry.ts";
import { type Item, maxBatchKeys, readItems } from "../../dynamodb/table-client.ts";
import { bucketOf, type CountedOwner, endOfRows, isRowKey, keyAt, latest } from "./counted-list.ts";

/** A row of a list, and what determines where it is counted. */
export interface CountedRow {
  readonly sk: string;
  readonly bucket: number;
  /** The partition of its source or channel in `by-label`. */
  readonly labelKey: string | undefined;
}

/** The counted row of an item. */
export function countedRow({ account, list }: CountedOwner, { sk, status, byLabel }: Item): CountedRow {
  return {
    sk: String(sk),
    bucket: bucketOf(list, status),
    labelKey: isLabelPartition(list.type, account, byLabel) ? byLabel : undefined,
  };
}

/** Reads only what a counted row needs. */
export const countedOnly = {
  ProjectionExpression: "sk, #status, byLabel",
  ExpressionAttributeNames: { "#status": "status" },
};

/** A text after the last of some rows and before any later sort key; empty without rows. */
export const endOf = (rows: readonly Pick<CountedRow, "sk">[]) =>
  rows.length === 0 ? "" : `${rows.at(-1)?.sk}!`;

/** Which rows of a list are read: from one sort key to before another, by default to the end of the rows. */
export interface RowBounds {
  readonly start: string;
  readonly end?: string | undefined;
  readonly maxRows: number;
}

/** The most read units spent on items that are no rows, those of 10 MB: no fault leaves as many behind. */
const maxMixedUnits = 2560;

/**
 * Reads rows of a list from the table consistently, in one call; in more calls while it finds only items that are no rows.
 *
 * @returns the rows by their sort keys, at most 1 MB; where the rows that were not read begin, a text right after the last
 *   sort key, undefined when all rows were read; and the read units of all calls
 * @throws Error when there are too many such items: the changes of this list are given up, and do not hold up other lists
 */
export async function readRows(owner: CountedOwner, bounds: RowBounds) {
  const { account, list } = owner;
  const { end = endOfRows(list), maxRows } = bounds;
  const start = latest(bounds.start, keyAt(list, 0));
  const pk = accountPartition(list.type, account);
  let units = 0;
  if (end <= start) return { rows: [], next: undefined, units };
  const selection = { ...between(pk, start, end), ...countedOnly, Limit: maxRows };
  for await (const { Items = [], LastEvaluatedKey, ConsumedCapacity } of queryPages(selection, unpaced)) {
    units += ConsumedCapacity?.CapacityUnits ?? 0;
    const items = Items.filter(({ sk }) => sk !== end && isRowKey(list, sk));
    const rows = items.map((item) => countedRow(owner, item));
    if (rows.length > 0) return { rows, next: LastEvaluatedKey && endOf(rows), units };
    if (units > maxMixedUnits) throw new Error(`Too many items in ${pk} are no rows.`);
  }
  return { rows: [], next: undefined, units };
}

/** Reads rows consistently. @returns the rows that exist, by their sort keys */
export async function readStates(owner: CountedOwner, keys: readonly string[], retry: Retry) {
  const { account, list } = owner;
  const states = new Map<string, CountedRow>();
  const rows = keys.map((sk) => rowKey(list.type, account, sk));
  for (const batch of cut(rows, maxBatchKeys))
    for (const item of await retry(() => readItems(batch, true)))
      states.set(String(item.sk), countedRow(owner, item));
  return states;
}
