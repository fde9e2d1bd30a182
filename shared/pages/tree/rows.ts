import { QueryCommand } from "@aws-sdk/lib-dynamodb";
import { listPartition } from "../../dynamodb/keys.ts";
import { table, tableName } from "../../dynamodb/table-client.ts";
import { type CountedRow, countedRow } from "./counted-list.ts";
import type { CountedOwner } from "./tree-store.ts";

/** Rows in the order of their sort keys. */
export interface Rows {
  readonly rows: readonly CountedRow[];
  /** The sort key of the first row that was left out because there were too many. */
  readonly next: string | undefined;
}

/**
 * The rows from a sort key to before another (to the end without it), consistently, as they are now.
 *
 * @param most how many to read at the most
 */
export async function readRows(
  { account, list }: CountedOwner,
  { start, end }: { readonly start: string; readonly end?: string },
  most: number,
): Promise<Rows> {
  if (end !== undefined && end <= start) return { rows: [], next: undefined };
  const rows: CountedRow[] = [];
  let position: Record<string, unknown> | undefined;
  do {
    const { Items = [], LastEvaluatedKey } = await table.send(
      new QueryCommand({
        TableName: tableName,
        ...keyCondition(listPartition(list.type, account), start, end),
        ProjectionExpression: "sk, #status, #origin",
        ConsistentRead: true,
        ExclusiveStartKey: position,
        Limit: most + 1 - rows.length,
      }),
    );
    // BETWEEN takes its upper bound in.
    for (const item of Items) if (item.sk !== end) rows.push(countedRow(list, item));
    position = LastEvaluatedKey;
  } while (position && rows.length <= most);
  return { rows: rows.slice(0, most), next: rows[most]?.sk };

  function keyCondition(partition: string, from: string, to: string | undefined) {
    const range = from && to !== undefined && "sk BETWEEN :from AND :to";
    const bound = (from && "sk >= :from") || (to !== undefined && "sk < :to");
    return {
      KeyConditionExpression: ["pk = :pk", range || bound].filter(Boolean).join(" AND "),
      ExpressionAttributeNames: { "#status": "status", "#origin": list.sourceOrChannelAttribute },
      ExpressionAttributeValues: {
        ":pk": partition,
        ...(from && { ":from": from }),
        ...(to !== undefined && { ":to": to }),
      },
    };
  }
}
