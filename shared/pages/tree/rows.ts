import { QueryCommand } from "@aws-sdk/lib-dynamodb";
import { listPartition } from "../../dynamodb/keys.ts";
import type { Retry } from "../../dynamodb/retry.ts";
import { table, tableName } from "../../dynamodb/table-client.ts";
import { type CountedRow, countedRow } from "./counted-list.ts";
import type { CountedOwner } from "./tree-store.ts";

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
}

/** Reads the rows from a sort key up to another, exclusive, or to the end; consistently. */
export async function readRows(
  { account, list }: CountedOwner,
  { start, end }: { readonly start: string; readonly end?: string },
  { maxRows, oneCall, retry = (call) => call(), onPage }: RowReading,
): Promise<Rows> {
  if (end !== undefined && end <= start) return { rows: [], next: undefined };
  const rows: CountedRow[] = [];
  let position: Record<string, unknown> | undefined;
  do {
    const query = new QueryCommand({
      TableName: tableName,
      ...keyCondition(listPartition(list.type, account), start, end),
      ProjectionExpression: "sk, #status, #label",
      ConsistentRead: true,
      ExclusiveStartKey: position,
      Limit: maxRows + 1 - rows.length,
      ReturnConsumedCapacity: "TOTAL",
    });
    const { Items = [], LastEvaluatedKey, ConsumedCapacity } = await retry(() => table.send(query));
    // BETWEEN includes its upper bound.
    for (const item of Items) if (item.sk !== end) rows.push(countedRow(list, item));
    position = LastEvaluatedKey;
    await onPage?.(ConsumedCapacity?.CapacityUnits ?? 0);
  } while (position && rows.length <= maxRows && !(oneCall && rows.length > 0));
  const last = rows.at(-1)?.sk;
  // No sort key lies between one and the same with a "!" after it.
  const after = position && last !== undefined ? `${last}!` : undefined;
  return { rows: rows.slice(0, maxRows), next: rows[maxRows]?.sk ?? after };

  function keyCondition(partition: string, from: string, to: string | undefined) {
    const range = from && to !== undefined && "sk BETWEEN :from AND :to";
    const bound = (from && "sk >= :from") || (to !== undefined && "sk < :to");
    return {
      KeyConditionExpression: ["pk = :pk", range || bound].filter(Boolean).join(" AND "),
      ExpressionAttributeNames: { "#status": "status", "#label": list.attribute },
      ExpressionAttributeValues: {
        ":pk": partition,
        ...(from && { ":from": from }),
        ...(to !== undefined && { ":to": to }),
      },
    };
  }
}
