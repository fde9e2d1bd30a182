import { BatchWriteCommand } from "@aws-sdk/lib-dynamodb";
import { table, tableName } from "../../../shared/dynamodb/table-client.ts";
import { rowItem } from "./items.ts";
import type { LeadRow } from "./rows.ts";

/** The items of a BatchWriteItem call. */
const callSize = 25;

/** Writes rows past the routes, many with a call. */
export async function writeRows(account: string, rows: readonly LeadRow[]): Promise<void> {
  for (const some of chunks(rows, callSize)) {
    let requests = some.map((row) => ({ PutRequest: { Item: rowItem(account, row) } }));
    while (requests.length > 0) {
      const { UnprocessedItems } = await table.send(
        new BatchWriteCommand({ RequestItems: { [tableName]: requests } }),
      );
      requests = (UnprocessedItems?.[tableName] ?? []) as typeof requests;
    }
  }
}

/** Splits values into runs of a size; the last may be shorter. */
export const chunks = <T>(values: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(values.length / size) }, (_, n) => values.slice(n * size, (n + 1) * size));
