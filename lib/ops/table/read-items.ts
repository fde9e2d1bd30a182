import { DescribeTableCommand } from "@aws-sdk/client-dynamodb";
import { expiryAttribute, indexes } from "../../../shared/dynamodb/keys.ts";
import type { Pace } from "../../../shared/dynamodb/pace.ts";
import { type ScanSelection, scanItems } from "../../../shared/dynamodb/read-pages.ts";
import { type Item, table, tableName } from "../../../shared/dynamodb/table-client.ts";
import type { OnRows } from "../output/progress.ts";

/** The items that the index `by-parent` lists for a value. */
export const ofParent = (parent: string) => ({
  IndexName: "by-parent",
  KeyConditionExpression: "#parent = :parent",
  ExpressionAttributeNames: { "#parent": indexes["by-parent"] },
  ExpressionAttributeValues: { ":parent": parent },
});

/** How many parts of the table are read at the same time. */
const segments = 8;

/** Reads only items that do not expire: those that do may be all that is left of an account. */
export const withoutExpiry = { FilterExpression: `attribute_not_exists(${expiryAttribute})` };

/**
 * Reads the whole table, consistently, in several parts at the same time: the only way to find items whose partition key
 * is not known.
 *
 * @param onItems called with the items of each page that pass the filter
 * @param onRows called with the number of items of each page, those that do not pass included
 */
export async function scanTable(
  selection: ScanSelection,
  { pace, onItems, onRows }: ScanOptions,
): Promise<void> {
  const scan = async (Segment: number) => {
    const part = { ...selection, Segment, TotalSegments: segments, ConsistentRead: true };
    // A page may be deleted. The embedded DynamoDB reads nothing after an item that is gone, so the next page is read first.
    let former: readonly Item[] = [];
    for await (const { Items = [], ScannedCount = 0 } of scanItems(part, pace)) {
      await onItems(former);
      former = Items;
      onRows?.(ScannedCount);
    }
    await onItems(former);
  };
  await Promise.all(Array.from({ length: segments }, (_, segment) => scan(segment)));
}

interface ScanOptions {
  readonly pace: Pace;
  readonly onItems: (items: readonly Item[]) => void | Promise<void>;
  readonly onRows?: OnRows | undefined;
}

/** About how many items the table has, as of the last six hours; 0 if the operator may not ask. */
export async function countTableItems(): Promise<number> {
  const command = new DescribeTableCommand({ TableName: tableName });
  const { Table } = await table.send(command).catch(() => ({ Table: undefined }));
  return Table?.ItemCount ?? 0;
}
