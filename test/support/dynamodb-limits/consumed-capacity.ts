import type { ConsumedCapacity } from "@aws-sdk/client-dynamodb";
import type { PartitionLimits } from "./partition-limits.ts";
import type { ItemUse } from "./table-uses.ts";

/**
 * What a call consumed, as DynamoDB reports it for `ReturnConsumedCapacity: "INDEXES"`: a read unit for 4 KB that are read
 * consistently (of a query, for those of all items together) and half of one otherwise, a write unit for 1 KB, twice as
 * much in a transaction. A write consumes units in each index that has the item, not doubled by a transaction, and twice
 * where the index's key changes.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html#GSI.ThroughputConsiderations
 */
export type Consumed = ConsumedCapacity | readonly ConsumedCapacity[] | undefined;

/**
 * Charges the partition keys that a call used with the units that it consumed in the table and in each index. The units
 * of a transaction, which are reported for all of its items together, are divided by the sizes of the items.
 *
 * @param sizes the relative size of each item of the call
 */
export function chargeConsumed(
  limits: PartitionLimits,
  uses: readonly ItemUse[],
  consumed: Consumed,
  sizes: readonly number[] = [],
): void {
  for (const { Table, GlobalSecondaryIndexes = {} } of [consumed ?? []].flat()) {
    divide(limits, usesOf(uses, undefined), Table?.CapacityUnits ?? 0, sizes);
    for (const [index, { CapacityUnits = 0 }] of Object.entries(GlobalSecondaryIndexes))
      divide(limits, usesOf(uses, index), CapacityUnits, sizes);
  }
}

const usesOf = (uses: readonly ItemUse[], wanted: string | undefined) =>
  uses.filter(({ index }) => index === wanted);

function divide(
  limits: PartitionLimits,
  uses: readonly ItemUse[],
  units: number,
  sizes: readonly number[],
): void {
  const size = ({ item }: ItemUse) => sizes[item] ?? 1;
  const total = uses.reduce((sum, use) => sum + size(use), 0);
  for (const use of uses) limits.charge(use, (units * size(use)) / total);
}
