import { isLabelPartition, labelTreeKey, labelTreePrefix } from "../../dynamodb/keys.ts";
import type { Pace } from "../../dynamodb/pace.ts";
import { queryAll, withPrefix } from "../../dynamodb/read-pages.ts";
import type { Item } from "../../dynamodb/table-client.ts";
import type { CountedOwner, LabelOwner } from "./counted-list.ts";
import { treeKey } from "./tree-store.ts";

/** The records of the labels of a list that have trees. */
export const labelTreeRecords = (list: CountedOwner) =>
  withPrefix(treeKey(list, "").pk, `${labelTreePrefix}#`);

/** Reads the labels of a list that have trees, by their records. */
export async function readLabelTrees(list: CountedOwner, pace: Pace): Promise<LabelOwner[]> {
  const records = await queryAll(labelTreeRecords(list), pace);
  return records.filter((record) => isRecordOf(list, record)).map(({ labelKey }) => ({ ...list, labelKey }));
}

/** Whether an item is what a maintainer writes for a label of a list. */
export function isRecordOf(
  { account, list }: CountedOwner,
  record: Item,
): record is Item & { labelKey: string } {
  const { sk, labelKey } = record;
  return (
    isLabelPartition(list.type, account, labelKey) && labelTreeKey(list.type, account, labelKey).sk === sk
  );
}
