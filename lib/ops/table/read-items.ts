import { expiryAttribute, indexes } from "../../../shared/dynamodb/keys.ts";
import type { AnyPace, Pace } from "../../../shared/dynamodb/pace.ts";
import {
  type QuerySelection,
  queryItems,
  type ScanSelection,
  scanItems,
} from "../../../shared/dynamodb/read-pages.ts";
import type { Item } from "../../../shared/dynamodb/table-client.ts";
import { type CountedOwner, countedLists } from "../../../shared/pages/tree/counted-list.ts";

/** The lists of an account, which are counted. */
export const countedOwners = (account: string): CountedOwner[] =>
  Object.values(countedLists).map((list) => ({ account, list }));

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
 */
export async function scanTable(
  selection: ScanSelection,
  pace: Pace,
  onItems: (items: readonly Item[]) => void | Promise<void>,
): Promise<void> {
  const scan = async (Segment: number) => {
    const part = { ...selection, Segment, TotalSegments: segments, ConsistentRead: true };
    // A page may be deleted. The embedded DynamoDB reads nothing after an item that is gone, so the next page is read first.
    let former: readonly Item[] = [];
    for await (const { Items = [] } of scanItems(part, pace)) {
      await onItems(former);
      former = Items;
    }
    await onItems(former);
  };
  await Promise.all(Array.from({ length: segments }, (_, segment) => scan(segment)));
}

/** Whether there is any of the selected items. */
export async function hasAny(selection: QuerySelection, pace: AnyPace): Promise<boolean> {
  const { value: items } = await queryItems({ ...selection, Limit: 1 }, pace).next();
  return items.length > 0;
}
