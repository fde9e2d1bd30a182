import { DescribeTableCommand } from "@aws-sdk/client-dynamodb";
import { ScanCommand, type ScanCommandInput } from "@aws-sdk/lib-dynamodb";
import { expiryAttribute } from "../../shared/dynamodb/keys.ts";
import { type Item, table, tableName } from "../../shared/dynamodb/table-client.ts";
import type { Pace } from "./pace.ts";
import type { OnRows } from "./progress.ts";

/** How many parts of the table are read at the same time. */
const segments = 8;

type Selection = Pick<
  ScanCommandInput,
  "FilterExpression" | "ExpressionAttributeNames" | "ExpressionAttributeValues" | "ProjectionExpression"
> & { readonly TableName?: string };

/** Reads only items that do not expire: those that do may be all that is left of an account. */
export const withoutExpiry = { FilterExpression: `attribute_not_exists(${expiryAttribute})` };

/**
 * Reads the whole table, consistently, in several parts at the same time: the only way to find items whose partition key
 * is not known.
 *
 * @param onItems called with the items of each page that pass the filter
 * @param onRows called with the number of items of each page, those that do not pass included
 */
export async function scanTable(selection: Selection, { pace, onItems, onRows }: ScanOptions): Promise<void> {
  const scanSegment = async (segment: number) => {
    let position: Item | undefined;
    do {
      const scan = new ScanCommand({
        ...{ TableName: tableName, ...selection, Segment: segment, TotalSegments: segments },
        ...{ ConsistentRead: true, ExclusiveStartKey: position, ReturnConsumedCapacity: "TOTAL" },
      });
      const page = await pace.retry(() => table.send(scan));
      await pace.spend(page.ConsumedCapacity?.CapacityUnits ?? 0);
      await onItems(page.Items ?? []);
      onRows?.(page.ScannedCount ?? 0);
      position = page.LastEvaluatedKey;
    } while (position);
  };
  await Promise.all(Array.from({ length: segments }, (_, segment) => scanSegment(segment)));
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
