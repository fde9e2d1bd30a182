import { QueryCommand } from "@aws-sdk/lib-dynamodb";
import { listPartition } from "../../dynamodb/keys.ts";
import { table, tableName } from "../../dynamodb/table-client.ts";
import { type CountedRow, countedRow } from "./counted-list.ts";
import type { CountedOwner } from "./tree-store.ts";

/** Rows, by their sort keys. */
export interface Rows {
  readonly rows: readonly CountedRow[];
  /** The sort key of the first row past the limit. */
  readonly next: string | undefined;
}

/** How rows are read. */
export interface RowReading {
  /** How many rows to return at most. */
  readonly maxRows: number;
  /** Repeats the call for a page while the table throttles it. */
  readonly retry?: <T>(call: () => Promise<T>) => Promise<T>;
  /** Called after each page with its rows and the read units that it consumed; the next page waits for it. */
  readonly onPage?: (page: { readonly rows: number; readonly units: number }) => Promise<unknown>;
}

/** Reads the rows from a sort key up to another, exclusive, or to the end; consistently. */
export async function readRows(
  { account, list }: CountedOwner,
  { start, end }: { readonly start: string; readonly end?: string },
  { maxRows, retry = (call) => call(), onPage }: RowReading,
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
    await onPage?.({ rows: Items.length, units: ConsumedCapacity?.CapacityUnits ?? 0 });
  } while (position && rows.length <= maxRows);
  return { rows: rows.slice(0, maxRows), next: rows[maxRows]?.sk };

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
