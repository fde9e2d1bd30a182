import { DescribeTableCommand } from "@aws-sdk/client-dynamodb";
import {
  QueryCommand,
  type QueryCommandInput,
  ScanCommand,
  type ScanCommandInput,
} from "@aws-sdk/lib-dynamodb";
import { expiryAttribute, indexes } from "../../../shared/dynamodb/keys.ts";
import { type Item, type Key, table, tableName } from "../../../shared/dynamodb/table-client.ts";
import type { AnyPace, Pace } from "./pace.ts";
import type { OnRows } from "./progress.ts";

/** What a query adds to its partition: an index, a range of sort keys, a filter, some of the attributes. */
export type QuerySelection = Omit<
  QueryCommandInput,
  "TableName" | "ExclusiveStartKey" | "ReturnConsumedCapacity" | "ConsistentRead"
>;

/**
 * Reads the items of a partition of the table, consistently, or of an index, page by page, when the pace allows it.
 *
 * @param after the key of the item of the table after which to begin
 */
export async function* queryItems(
  selection: QuerySelection,
  pace: AnyPace,
  after?: Key,
): AsyncGenerator<readonly Item[]> {
  let position: Item | undefined = after;
  do {
    const query = new QueryCommand({
      TableName: tableName,
      ...selection,
      ConsistentRead: selection.IndexName === undefined,
      ExclusiveStartKey: position,
      ReturnConsumedCapacity: "TOTAL",
    });
    const { Items = [], LastEvaluatedKey, ConsumedCapacity } = await pace.retry(() => table.send(query));
    await pace.spend(ConsumedCapacity?.CapacityUnits ?? 0);
    yield Items;
    position = LastEvaluatedKey;
  } while (position);
}

/** Reads the same items, and keeps them all. */
export async function queryAll(selection: QuerySelection, pace: AnyPace): Promise<Item[]> {
  const all: Item[] = [];
  for await (const items of queryItems(selection, pace)) all.push(...items);
  return all;
}

/** The items of a partition of the table. */
export const inPartition = (pk: string) => ({
  KeyConditionExpression: "pk = :pk",
  ExpressionAttributeValues: { ":pk": pk },
});

/** The items that the index `by-parent` lists for a value. */
export const ofParent = (parent: string) => ({
  IndexName: "by-parent",
  KeyConditionExpression: "#parent = :parent",
  ExpressionAttributeNames: { "#parent": indexes["by-parent"] },
  ExpressionAttributeValues: { ":parent": parent },
});

/** Reads only the keys of items. */
export const keysOnly = { ProjectionExpression: "pk, sk" };

/** How many parts of the table are read at the same time. */
const segments = 8;

type ScanSelection = Pick<
  ScanCommandInput,
  "FilterExpression" | "ExpressionAttributeNames" | "ExpressionAttributeValues" | "ProjectionExpression"
>;

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
