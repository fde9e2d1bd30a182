import { QueryCommand } from "@aws-sdk/lib-dynamodb";
import { accountPartition, isLabelPartition, rowKey } from "../../dynamodb/keys.ts";
import type { Retry } from "../../dynamodb/retry.ts";
import { type Item, maxBatchKeys, readItems, table, tableName } from "../../dynamodb/table-client.ts";
import { bucketOf, type CountedOwner, endOfRows, isRowKey } from "./counted-list.ts";

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

/** Rows in the order of their sort keys, from one call: at most 1 MB. */
export interface Rows {
  readonly rows: readonly CountedRow[];
  /** The sort keys of items among them that are no rows. */
  readonly others: readonly string[];
  /** Where the rows that were not read begin: a text right after the last sort key; undefined when all rows were read. */
  readonly next: string | undefined;
  /** The read units of the call. */
  readonly units: number;
}

/** A text after the last of some rows and before any later sort key; empty without rows. */
export const endOf = (rows: readonly Pick<CountedRow, "sk">[]) =>
  rows.length === 0 ? "" : `${rows.at(-1)?.sk}!`;

/** Which rows of a list are read: from one sort key to before another, by default to the end of the rows. */
interface RowBounds {
  readonly start: string;
  readonly end?: string | undefined;
  readonly maxRows: number;
}

/** The most further calls that skip items which are no rows. */
const maxMixedCalls = 10;

/**
 * Reads rows of a list from the table consistently, in one call; in more calls while it finds only items that are no rows.
 *
 * @throws Error when there are more such items than any fault leaves behind
 */
export async function readRows(owner: CountedOwner, bounds: RowBounds): Promise<Rows> {
  const { account, list } = owner;
  const { start, end = endOfRows(list), maxRows } = bounds;
  if (end <= start) return { rows: [], others: [], next: undefined, units: 0 };
  const others: string[] = [];
  let position: Item | undefined;
  let units = 0;
  for (let calls = 0; calls <= maxMixedCalls; calls++) {
    const page = await table.send(
      new QueryCommand({
        TableName: tableName,
        KeyConditionExpression: `pk = :pk AND ${start ? "sk BETWEEN :start AND :end" : "sk < :end"}`,
        ProjectionExpression: "sk, #status, byLabel",
        ExpressionAttributeNames: { "#status": "status" },
        ExpressionAttributeValues: {
          ":pk": accountPartition(list.type, account),
          ...(start && { ":start": start }),
          ":end": end,
        },
        ConsistentRead: true,
        // Items that are no rows are skipped in pages of 1 MB.
        Limit: calls === 0 ? maxRows : undefined,
        ExclusiveStartKey: position,
        ReturnConsumedCapacity: "TOTAL",
      }),
    );
    // BETWEEN includes its upper bound.
    const items = (page.Items ?? []).filter(({ sk }) => sk !== end);
    const byKind = Map.groupBy(items, ({ sk }) => isRowKey(list, sk));
    const found = byKind.get(true) ?? [];
    others.push(...(byKind.get(false) ?? []).map(({ sk }) => String(sk)));
    units += page.ConsumedCapacity?.CapacityUnits ?? 0;
    position = page.LastEvaluatedKey;
    const rows = found.slice(0, maxRows).map((item) => countedRow(owner, item));
    const isWhole = rows.length === found.length && (!position || position.sk === end);
    if (isWhole || rows.length > 0) return { rows, others, next: isWhole ? undefined : endOf(rows), units };
  }
  throw new Error(
    `More than ${maxMixedCalls} MB of items in ${accountPartition(list.type, account)} are no rows.`,
  );
}

/** Reads rows consistently. @returns the rows that exist, by their sort keys */
export async function readStates(owner: CountedOwner, keys: readonly string[], retry: Retry) {
  const { account, list } = owner;
  const states = new Map<string, CountedRow>();
  for (let from = 0; from < keys.length; from += maxBatchKeys) {
    const batch = keys.slice(from, from + maxBatchKeys).map((sk) => rowKey(list.type, account, sk));
    for (const item of await retry(() => readItems(batch, true)))
      states.set(String(item.sk), countedRow(owner, item));
  }
  return states;
}
