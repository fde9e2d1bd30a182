import { BatchWriteCommand, type BatchWriteCommandInput } from "@aws-sdk/lib-dynamodb";
import { unprocessed } from "../../../shared/dynamodb/dynamodb-errors.ts";
import { nodePrefix, parseGeneration } from "../../../shared/dynamodb/keys.ts";
import { table, tableName } from "../../../shared/dynamodb/table-client.ts";
import type { CountedOwner } from "../../../shared/pages/tree/counted-list.ts";
import { readRoot, treeKey } from "../../../shared/pages/tree/tree-store.ts";
import type { Pace } from "../pace.ts";
import { groupPrefix, readTreeItems } from "./tree-items.ts";

/** The most items that a batch can delete. */
const batchSize = 25;

/** How many read units a write unit is worth: a partition key provides a third as many. */
const readsPerWrite = 3;

/** Deletes the nodes of trees older than the one in service. A newer tree may belong to a running rebuild. */
export async function deleteOldNodes(owner: CountedOwner, pace: Pace): Promise<void> {
  const live = await pace.retry(() => readRoot(owner));
  if (!live) return;
  const { pk } = treeKey(owner, "");
  for (const prefix of owner.sublist ? [nodePrefix, groupPrefix] : [nodePrefix]) {
    for await (const items of readTreeItems(owner, prefix, pace)) {
      const old = items.map(({ sk }) => String(sk)).filter((sk) => isOld(sk, live.generation));
      for (let from = 0; from < old.length; from += batchSize)
        await deleteItems(pk, old.slice(from, from + batchSize), pace);
    }
  }
}

/** Whether a name is one of a node of an earlier generation. The nodes of a group have the group's name before theirs. */
function isOld(name: string, generation: number): boolean {
  const at = name.indexOf(nodePrefix);
  return at >= 0 && parseGeneration(name.slice(at)) < generation;
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
    throw unprocessed("items");
  });
}
