import { ProvisionedThroughputExceededException } from "@aws-sdk/client-dynamodb";
import { BatchWriteCommand, type BatchWriteCommandInput, paginateQuery } from "@aws-sdk/lib-dynamodb";
import { countNodeKey, nodePrefix, parseGeneration } from "../../../shared/dynamodb/keys.ts";
import { table, tableName } from "../../../shared/dynamodb/table-client.ts";
import { type CountedOwner, readRoot } from "../../../shared/pages/tree/tree-store.ts";
import { retryWhileBusy, type Wait } from "../retry-while-busy.ts";

/** The most items that a batch can delete. */
const batchSize = 25;

/** Deletes the nodes of trees older than the one in service. A newer tree may belong to a running rebuild. */
export async function deleteOldNodes(owner: CountedOwner, wait: Wait): Promise<void> {
  const live = await readRoot(owner);
  if (!live) return;
  const { pk } = countNodeKey(owner.list.type, owner.account, "");
  const pages = paginateQuery(
    { client: table, pageSize: 500 },
    {
      TableName: tableName,
      KeyConditionExpression: "pk = :pk AND begins_with(sk, :prefix)",
      ExpressionAttributeValues: { ":pk": pk, ":prefix": nodePrefix },
      ProjectionExpression: "sk",
    },
  );
  for await (const { Items = [] } of pages) {
    const old = Items.map(({ sk }) => String(sk)).filter((sk) => parseGeneration(sk) < live.generation);
    for (let from = 0; from < old.length; from += batchSize) {
      await deleteItems(pk, old.slice(from, from + batchSize), wait);
    }
  }
}

/** Deletes a batch of items. @throws the last throttling error when the table does not process all of them in time */
async function deleteItems(pk: string, sortKeys: readonly string[], wait: Wait): Promise<void> {
  let requests: NonNullable<BatchWriteCommandInput["RequestItems"]>[string] = sortKeys.map((sk) => ({
    DeleteRequest: { Key: { pk, sk } },
  }));
  await retryWhileBusy(async () => {
    const command = new BatchWriteCommand({ RequestItems: { [tableName]: requests } });
    const { UnprocessedItems } = await table.send(command);
    requests = UnprocessedItems?.[tableName] ?? [];
    if (requests.length === 0) return;
    // DynamoDB itself throws this error only when it processes none of the items.
    throw new ProvisionedThroughputExceededException({ message: "Unprocessed items", $metadata: {} });
  }, wait);
}
