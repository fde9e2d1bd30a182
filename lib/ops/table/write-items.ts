import type { ConsumedCapacity } from "@aws-sdk/client-dynamodb";
import { BatchWriteCommand, type BatchWriteCommandInput, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { changeTypes, eventValidators } from "../../../shared/domain/events.ts";
import { markChange } from "../../../shared/domain/marked-change.ts";
import { unprocessed } from "../../../shared/dynamodb/dynamodb-errors.ts";
import { readPartition } from "../../../shared/dynamodb/keys.ts";
import { type Pace, readsPerWrite } from "../../../shared/dynamodb/pace.ts";
import { type Item, table, tableName } from "../../../shared/dynamodb/table-client.ts";
import type { TransactItems } from "../../../shared/dynamodb/transact.ts";

/** The changes of a lead, a conversation or a message, with what its event is composed of if they change fields of its record. */
export function asChange(read: Item, changes: Item): Item {
  const { itemType = "" } = readPartition(String(read.pk)) ?? {};
  const validate = changeTypes.has(itemType) ? eventValidators.get(itemType) : undefined;
  return markChange(read, changes, validate?.properties ?? []);
}

/** The most items that a batch can delete. */
const batchSize = 25;

/** Deletes items, batch by batch. Items that do not exist cost a write unit, too. */
export async function deleteItems(keys: readonly Item[], pace: Pace): Promise<void> {
  for (let from = 0; from < keys.length; from += batchSize)
    await deleteBatch(keys.slice(from, from + batchSize), pace);
}

async function deleteBatch(keys: readonly Item[], pace: Pace): Promise<void> {
  let requests: NonNullable<BatchWriteCommandInput["RequestItems"]>[string] = keys.map(({ pk, sk }) => ({
    DeleteRequest: { Key: { pk, sk } },
  }));
  await pace.retry(async () => {
    const { UnprocessedItems, ConsumedCapacity } = await table.send(
      new BatchWriteCommand({ RequestItems: { [tableName]: requests }, ReturnConsumedCapacity: "TOTAL" }),
    );
    await spendWrites(ConsumedCapacity, pace);
    requests = UnprocessedItems?.[tableName] ?? [];
    if (requests.length === 0) return;
    throw unprocessed("items");
  });
}

/** Writes all items or none. */
export async function writeTogether(pace: Pace, TransactItems: TransactItems): Promise<void> {
  const command = new TransactWriteCommand({ TransactItems, ReturnConsumedCapacity: "TOTAL" });
  const { ConsumedCapacity } = await table.send(command);
  await spendWrites(ConsumedCapacity, pace);
}

/** Spends the units that a call has written. */
function spendWrites(consumed: readonly ConsumedCapacity[] = [], pace: Pace): Promise<void> {
  return pace.spend(readsPerWrite * consumed.reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0));
}
