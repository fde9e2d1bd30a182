import { QueryCommand, type QueryCommandInput } from "@aws-sdk/lib-dynamodb";
import { type Item, type Key, table, tableName } from "../../shared/dynamodb/table-client.ts";
import type { Pace } from "./pace.ts";

/** What a query adds to its partition: an index, a range of sort keys, a filter, some of the attributes, another table. */
type Selection = Omit<
  QueryCommandInput,
  "TableName" | "ExclusiveStartKey" | "ReturnConsumedCapacity" | "ConsistentRead"
> & { readonly TableName?: string };

/**
 * Reads the items of a partition of the table, consistently, or of an index, page by page, when the pace allows it.
 *
 * @param after the key of the item of the table after which to begin
 */
export async function* queryItems(
  selection: Selection,
  pace: Pace,
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

/** Gives the items of pages one by one. */
export async function* eachItem(pages: AsyncGenerator<readonly Item[]>): AsyncGenerator<Item, undefined> {
  for await (const items of pages) yield* items;
  return undefined;
}

/** The items of a partition of the table. */
export const inPartition = (pk: string) => ({
  KeyConditionExpression: "pk = :pk",
  ExpressionAttributeValues: { ":pk": pk },
});

/** Reads only the keys of items. */
export const keysOnly = { ProjectionExpression: "pk, sk" };
