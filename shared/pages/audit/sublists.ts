import { QueryCommand } from "@aws-sdk/lib-dynamodb";
import { sublistPrefix } from "../../dynamodb/keys.ts";
import { type Item, table, tableName } from "../../dynamodb/table-client.ts";
import type { CountedOwner, SublistOwner } from "../tree/counted-list.ts";
import { treeKey } from "../tree/tree-store.ts";
import type { Pace } from "./tree-part.ts";

/** Reads the sublists of a list that have trees, by their records. */
export async function readSublists(list: CountedOwner, pace: Pace): Promise<SublistOwner[]> {
  const sublists: SublistOwner[] = [];
  let position: Item | undefined;
  do {
    const query = new QueryCommand({
      TableName: tableName,
      KeyConditionExpression: "pk = :pk AND begins_with(sk, :prefix)",
      ExpressionAttributeValues: { ":pk": treeKey(list, "").pk, ":prefix": `${sublistPrefix}#` },
      ConsistentRead: true,
      ExclusiveStartKey: position,
      ReturnConsumedCapacity: "TOTAL",
    });
    const { Items = [], LastEvaluatedKey, ConsumedCapacity } = await pace.retry(() => table.send(query));
    await pace.spend(ConsumedCapacity?.CapacityUnits ?? 0);
    for (const { origin } of Items) if (typeof origin === "string") sublists.push({ ...list, origin });
    position = LastEvaluatedKey;
  } while (position);
  return sublists;
}
