import type { ConsumedCapacity } from "@aws-sdk/client-dynamodb";
import type { PartitionLimits } from "./partition-limits.ts";
import type { ItemUse } from "./table-uses.ts";

/** What a call consumed, as DynamoDB reports it for `ReturnConsumedCapacity: "INDEXES"`. */
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
