import { indexes, listPartition } from "../../../shared/dynamodb/keys.ts";
import type { Item } from "../../../shared/dynamodb/table-client.ts";
import { type CountedOwner, keyAt } from "../../../shared/pages/tree/counted-list.ts";
import { indexedAge, limits } from "../../../shared/pages/tree/tree-limits.ts";
import type { Pace } from "../common/pace.ts";
import { queryItems } from "../common/read-items.ts";
import { tableTime } from "../common/table-clock.ts";

const names = { "#parent": indexes["by-parent"] };

/**
 * The items of a list with a value of the index `by-parent`, oldest first. Those that are so young that the index may not
 * have them are read from the list, consistently.
 */
export async function readRowsByParent(
  { account, list }: CountedOwner,
  parent: string,
  pace: Pace,
): Promise<Item[]> {
  const pk = listPartition(list.type, account);
  const indexed = {
    IndexName: "by-parent",
    KeyConditionExpression: "#parent = :parent",
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: { ":parent": parent },
  };
  const young = {
    KeyConditionExpression: "pk = :pk AND sk >= :start",
    FilterExpression: "#parent = :parent",
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: {
      ":pk": pk,
      ":start": keyAt(list, tableTime() - indexedAge(limits)),
      ":parent": parent,
    },
  };
  const found = new Map<string, Item>();
  for (const selection of [indexed, young])
    for await (const items of queryItems(selection, pace))
      for (const item of items) if (item.pk === pk) found.set(String(item.sk), item);
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, item]) => item);
}
