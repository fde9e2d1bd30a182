import { BatchWriteCommand, type BatchWriteCommandInput, PutCommand } from "@aws-sdk/lib-dynamodb";
import { changeTypes, eventValidators } from "../../../shared/domain/events.ts";
import { markChange } from "../../../shared/domain/marked-change.ts";
import { isContended, unprocessed } from "../../../shared/dynamodb/dynamodb-errors.ts";
import { readPartition } from "../../../shared/dynamodb/keys.ts";
import { type Pace, readsPerWrite } from "../../../shared/dynamodb/pace.ts";
import { withRetry } from "../../../shared/dynamodb/retry.ts";
import { type Item, type Key, readItem, table, tableName } from "../../../shared/dynamodb/table-client.ts";

/** The changes of a lead or a conversation, with what its event is composed of if they change fields of its record. */
export function asChange(read: Item, changes: Item): Item {
  const { itemType = "" } = readPartition(String(read.pk)) ?? {};
  const validate = changeTypes.has(itemType) ? eventValidators.get(itemType) : undefined;
  return markChange(read, changes, validate?.properties ?? []);
}

/** Repeats a change of an item for ten seconds while others change the item. */
export const retryChange = <T>(change: () => Promise<T>): Promise<T> =>
  withRetry(change, { deadline: Date.now() + 10_000, isRetryable: isContended });

/** How items are stored that come from elsewhere: a file, or another table. */
export interface Storing {
  /** Identifies this run, with its time. Its items have it, and of their events those of leads tell it. */
  readonly runId: string;
  /** Whether nothing is written. */
  readonly dryRun: boolean;
  readonly pace: Pace;
}

/** Stores an item that is absent, and leaves one that exists as it is. */
export async function storeOnce(storing: Storing, item: Item & Key): Promise<"stored" | "present"> {
  const outcome = await storing.pace.retry(async () => {
    const stored = await readItem({ pk: item.pk, sk: item.sk });
    if (stored) return "present";
    if (!storing.dryRun) await putNew(putAbsent(storing, item));
    return "stored";
  });
  await spend(storing, item, outcome);
  return outcome;
}

/** The parameters of a write that stores an item if it is absent. */
export const putAbsent = ({ runId }: Storing, item: Item) => ({
  TableName: tableName,
  Item: { ...item, imported: runId },
  ConditionExpression: "attribute_not_exists(pk)",
});

/** @throws StaleReadError when the item exists */
export const putNew = (put: ReturnType<typeof putAbsent>) => table.send(new PutCommand(put));

/** Spends the units of a read, or about those that an item writes to its partition key: those of indexes have their own. */
export function spend({ dryRun, pace }: Storing, item: Item, outcome: unknown): Promise<void> {
  const isWritten = !dryRun && ["stored", "replaced", "updated"].some((written) => written === outcome);
  return pace.spend(isWritten ? readsPerWrite * Math.ceil(JSON.stringify(item).length / 1024) : 1);
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
