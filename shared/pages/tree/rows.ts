import { QueryCommand } from "@aws-sdk/lib-dynamodb";
import { indexes, listPartition, type Sublist } from "../../dynamodb/keys.ts";
import type { Retry } from "../../dynamodb/retry.ts";
import { type Item, table, tableName } from "../../dynamodb/table-client.ts";
import { type CountedOwner, type CountedRow, countedRow } from "./counted-list.ts";

/** Rows, by their sort keys. */
export interface Rows {
  readonly rows: readonly CountedRow[];
  /** Where the rows begin that were not read: a sort key after the last row; undefined when all were read. */
  readonly next: string | undefined;
}

/** How rows are read. */
export interface RowReading {
  /** How many rows to return at most. */
  readonly maxRows: number;
  /** Whether to return after the first call that returns rows: one call reads at most 1 MB. */
  readonly oneCall?: boolean;
  /** Repeats a call while the table is busy. */
  readonly retry?: Retry;
  /** Called after each page with the read units that it consumed; the next page waits for it. */
  readonly onPage?: (units: number) => Promise<unknown>;
  /** Called with the items of each page, which then have the partitions of their sublists, too. */
  readonly onItems?: ((items: readonly Item[]) => void) | undefined;
  /** Drops rows that are not in this sublist, after they were read. */
  readonly only?: Sublist;
}

/** Reads the rows from a sort key up to another, exclusive, or to the end; consistently, but those of a sublist from its index. */
export async function readRows(
  owner: CountedOwner,
  { start, end }: { readonly start: string; readonly end?: string },
  { maxRows, oneCall, retry = (call) => call(), onPage, onItems, only }: RowReading,
): Promise<Rows> {
  const { sublist } = owner;
  if (end !== undefined && end <= start) return { rows: [], next: undefined };
  const rows: CountedRow[] = [];
  let position: Record<string, unknown> | undefined;
  do {
    const query = new QueryCommand({
      TableName: tableName,
      IndexName: sublist?.index,
      ...buildConditions(owner, { start, end }, only),
      ProjectionExpression: `sk, #status${onItems ? ", byOrigin" : ""}`,
      ConsistentRead: sublist === undefined,
      ExclusiveStartKey: position,
      // The table counts the rows that it drops, too.
      Limit: only ? undefined : maxRows + 1 - rows.length,
      ReturnConsumedCapacity: "TOTAL",
    });
    const { Items = [], LastEvaluatedKey, ConsumedCapacity } = await retry(() => table.send(query));
    // BETWEEN includes its upper bound.
    for (const item of Items) if (item.sk !== end) rows.push(countedRow(item));
    onItems?.(Items);
    position = LastEvaluatedKey;
    await onPage?.(ConsumedCapacity?.CapacityUnits ?? 0);
  } while (position && rows.length <= maxRows && !(oneCall && rows.length > 0));
  const last = rows.at(-1)?.sk;
  // No sort key lies between one and the same with a "!" after it.
  const after = position && last !== undefined ? `${last}!` : undefined;
  return { rows: rows.slice(0, maxRows), next: rows[maxRows]?.sk ?? after };
}

function buildConditions(
  { account, list, sublist }: CountedOwner,
  { start, end }: { readonly start: string; readonly end?: string | undefined },
  only: Sublist | undefined,
) {
  const range = start && end !== undefined && "sk BETWEEN :start AND :end";
  const bound = (start && "sk >= :start") || (end !== undefined && "sk < :end");
  return {
    KeyConditionExpression: ["#partition = :partition", range || bound].filter(Boolean).join(" AND "),
    FilterExpression: only && "#only = :only",
    ExpressionAttributeNames: {
      ...{ "#partition": sublist ? indexes[sublist.index] : "pk", "#status": "status" },
      ...(only && { "#only": indexes[only.index] }),
    },
    ExpressionAttributeValues: {
      ":partition": sublist?.partition ?? listPartition(list.type, account),
      ...(start && { ":start": start }),
      ...(end !== undefined && { ":end": end }),
      ...(only && { ":only": only.partition }),
    },
  };
}
