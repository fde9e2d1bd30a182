import { isLabelPartition, labelTreeKey, labelTreePrefix } from "../../dynamodb/keys.ts";
import type { Pace } from "../../dynamodb/pace.ts";
import { queryAll, withPrefix } from "../../dynamodb/read-pages.ts";
import type { CountedOwner } from "./counted-list.ts";
import { treeKey } from "./tree-store.ts";

/** Selects the records of the labels of a list that have trees. */
export const labelTreeRecords = (list: CountedOwner) =>
  withPrefix(treeKey(list, "").pk, `${labelTreePrefix}#`);

/** Reads the partitions of the labels of a list that have trees, by their records. Other items are skipped. */
export async function readLabelKeys(owner: CountedOwner, pace: Pace): Promise<string[]> {
  const { account, list } = owner;
  const records = await queryAll(labelTreeRecords(owner), pace);
  return records.flatMap(({ sk, labelKey }) =>
    isLabelPartition(list.type, account, labelKey) && labelTreeKey(list.type, account, labelKey).sk === sk
      ? labelKey
      : [],
  );
}
