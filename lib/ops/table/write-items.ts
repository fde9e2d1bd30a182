import { ConditionalCheckFailedException, type ConsumedCapacity } from "@aws-sdk/client-dynamodb";
import { DeleteCommand, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { eventItems } from "../../../shared/domain/events.ts";
import { markChange } from "../../../shared/domain/marked-change.ts";
import { readPartition } from "../../../shared/dynamodb/keys.ts";
import { type Pace, readsPerWrite } from "../../../shared/dynamodb/pace.ts";
import { type Item, isAsRead, table, tableName } from "../../../shared/dynamodb/table-client.ts";
import type { TransactItems } from "../../../shared/dynamodb/transact.ts";
import { inParallel } from "../../../shared/in-parallel.ts";

/** The changes of a lead, a conversation or a message, with attributes for its event if fields of its record change. */
export function asChange(read: Item, changes: Item): Item {
  const { type } = readPartition(String(read.pk)) ?? {};
  return markChange(read, changes, (type && eventItems[type]?.validate?.properties) ?? []);
}

/** Deletes items, unless they were given to another lead since they were read. An absent item also costs a write unit. */
export const deleteItems = (items: readonly Item[], pace: Pace): Promise<void> =>
  inParallel(items, async ({ pk, sk, leadId }) => {
    const command = new DeleteCommand({
      TableName: tableName,
      Key: { pk, sk },
      ReturnConsumedCapacity: "TOTAL",
      ...(leadId !== undefined && isAsRead("leadId", leadId)),
    });
    const response = await pace.retry(() => table.send(command).catch(ignoreOthers));
    await spendWrites([response?.ConsumedCapacity ?? {}], pace);
  });

/** Ignores a condition that does not hold: the item belongs to another lead, or does not exist any more. */
export function ignoreOthers(error: unknown): undefined {
  if (!(error instanceof ConditionalCheckFailedException)) throw error;
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
