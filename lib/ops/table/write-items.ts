import { isDeepStrictEqual } from "node:util";
import { BatchWriteCommand, type BatchWriteCommandInput, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { changeTypes } from "../../../shared/domain/events.ts";
import { isWriteConflict, StaleReadError, unprocessed } from "../../../shared/dynamodb/dynamodb-errors.ts";
import { readPartition } from "../../../shared/dynamodb/keys.ts";
import type { Pace } from "../../../shared/dynamodb/pace.ts";
import { type Item, type Key, table, tableName } from "../../../shared/dynamodb/table-client.ts";
import { idTimestamp, isId, newId } from "../../../shared/ids.ts";
import { fieldsOf } from "../../../shared/schemas/record.ts";

/**
 * The parameters of an update that sets attributes of an item, or removes those that are undefined, on the condition that
 * it exists and that other attributes are as they were read; undefined stands for a missing one.
 */
export function buildUpdate(key: Key, changes: Item, unchanged: Item = {}) {
  const all = Object.entries(changes).map(([name, value], i) => ({ name, value, at: `set${i}` }));
  const read = Object.entries(unchanged).map(([name, value], i) => ({ name, value, at: `read${i}` }));
  const set = all.filter(({ value }) => value !== undefined);
  const removed = all.filter(({ value }) => value === undefined);
  const clauses = [
    set.length > 0 && `SET ${set.map(({ at }) => `#${at} = :${at}`).join(", ")}`,
    removed.length > 0 && `REMOVE ${removed.map(({ at }) => `#${at}`).join(", ")}`,
  ];
  const conditions = read.map(({ value, at }) =>
    value === undefined ? `attribute_not_exists(#${at})` : `#${at} = :${at}`,
  );
  const present = [...set, ...read.filter(({ value }) => value !== undefined)];
  return {
    TableName: tableName,
    Key: key,
    UpdateExpression: clauses.filter(Boolean).join(" "),
    ConditionExpression: ["attribute_exists(pk)", ...conditions].join(" AND "),
    ExpressionAttributeNames: Object.fromEntries([...all, ...read].map(({ name, at }) => [`#${at}`, name])),
    ExpressionAttributeValues: Object.fromEntries(present.map(({ value, at }) => [`:${at}`, value])),
  };
}

/** The changes of a lead or a conversation, with what its event is composed of if they change fields of its record. */
export function asChange(read: Item, changes: Item): Item {
  const { validate } = changeTypes.get(readPartition(String(read.pk))?.itemType ?? "") ?? {};
  const [before, after] = [fieldsOf(read), fieldsOf({ ...read, ...changes })];
  const changed = (validate?.properties ?? []).filter(
    (name) => !isDeepStrictEqual(before[name], after[name]),
  );
  if (changed.length === 0) return changes;
  // Later than the change before, which a machine with another clock may have made.
  const last = isId("change", read.changeId) ? idTimestamp(read.changeId) : 0;
  return { ...changes, changed, changeId: newId("change", Math.max(Date.now(), last + 1)) };
}

/**
 * Runs such an update.
 *
 * @returns the updated item
 * @throws StaleReadError when the item is not as it was read, or a transaction holds it
 */
export async function updateItem(update: ReturnType<typeof buildUpdate>): Promise<Item> {
  const command = new UpdateCommand({ ...update, ReturnValues: "ALL_NEW" });
  const { Attributes = {} } = await orStaleRead(table.send(command));
  return Attributes;
}

/** @throws StaleReadError when the condition of a write does not hold, or a transaction holds its item */
export const orStaleRead = <T>(write: Promise<T>): Promise<T> =>
  write.catch((error: unknown) => {
    throw isWriteConflict(error) ? new StaleReadError() : error;
  });

/** The most items that a batch can delete. */
const batchSize = 25;

/** How many read units a write unit is worth: a partition key provides a third as many. */
export const readsPerWrite = 3;

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
