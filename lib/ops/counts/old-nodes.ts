import { ProvisionedThroughputExceededException } from "@aws-sdk/client-dynamodb";
import { BatchWriteCommand, type BatchWriteCommandInput, QueryCommand } from "@aws-sdk/lib-dynamodb";
import { countNodeKey, nodePrefix, parseGeneration } from "../../../shared/dynamodb/keys.ts";
import { table, tableName } from "../../../shared/dynamodb/table-client.ts";
import { type CountedOwner, readRoot } from "../../../shared/pages/tree/tree-store.ts";
import type { Pace } from "../pace.ts";

/** The most items that a batch can delete. */
const batchSize = 25;

/** How many read units a write unit is worth: a partition key provides a third as many. */
const readsPerWrite = 3;

/** Deletes the nodes of trees older than the one in service. A newer tree may belong to a running rebuild. */
export async function deleteOldNodes(owner: CountedOwner, pace: Pace): Promise<void> {
  const live = await pace.retry(() => readRoot(owner));
  if (!live) return;
  const { pk } = countNodeKey(owner.list.type, owner.account, "");
  let position: Record<string, unknown> | undefined;
  do {
    const query = new QueryCommand({
      TableName: tableName,
      KeyConditionExpression: "pk = :pk AND begins_with(sk, :prefix)",
      ExpressionAttributeValues: { ":pk": pk, ":prefix": nodePrefix },
      ProjectionExpression: "sk",
      ExclusiveStartKey: position,
      ReturnConsumedCapacity: "TOTAL",
    });
    const { Items = [], LastEvaluatedKey, ConsumedCapacity } = await pace.retry(() => table.send(query));
    await pace.spend(ConsumedCapacity?.CapacityUnits ?? 0);
    const old = Items.map(({ sk }) => String(sk)).filter((sk) => parseGeneration(sk) < live.generation);
    for (let from = 0; from < old.length; from += batchSize)
      await deleteItems(pk, old.slice(from, from + batchSize), pace);
    position = LastEvaluatedKey;
  } while (position);
}

/** Deletes a batch of items. */
async function deleteItems(pk: string, sortKeys: readonly string[], pace: Pace): Promise<void> {
  let requests: NonNullable<BatchWriteCommandInput["RequestItems"]>[string] = sortKeys.map((sk) => ({
    DeleteRequest: { Key: { pk, sk } },
  }));
  await pace.retry(async () => {
    const { UnprocessedItems, ConsumedCapacity = [] } = await table.send(
      new BatchWriteCommand({ RequestItems: { [tableName]: requests }, ReturnConsumedCapacity: "TOTAL" }),
    );
    const units = ConsumedCapacity.reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0);
    await pace.spend(readsPerWrite * units);
    requests = UnprocessedItems?.[tableName] ?? [];
    if (requests.length === 0) return;
    // DynamoDB itself throws this error only when it processes none of the items.
    throw new ProvisionedThroughputExceededException({ message: "Unprocessed items", $metadata: {} });
  });
}
