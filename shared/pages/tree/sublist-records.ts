import { isSourceOrChannelPartition, sublistKey, sublistPrefix } from "../../dynamodb/keys.ts";
import type { Pace } from "../../dynamodb/pace.ts";
import { queryAll, withPrefix } from "../../dynamodb/read-pages.ts";
import type { Item } from "../../dynamodb/table-client.ts";
import type { CountedOwner, SublistOwner } from "./counted-list.ts";
import { treeKey } from "./tree-store.ts";

/** The records of the sublists of a list that have trees. */
export const sublistRecords = (list: CountedOwner) => withPrefix(treeKey(list, "").pk, `${sublistPrefix}#`);

/** Reads the sublists of a list that have trees, by their records. */
export async function readSublists(list: CountedOwner, pace: Pace): Promise<SublistOwner[]> {
  const records = await queryAll(sublistRecords(list), pace);
  return records.flatMap((record) => (isRecordOf(list, record) ? { ...list, origin: record.origin } : []));
}

/** Whether an item is what a maintainer writes for a sublist of a list. */
export function isRecordOf(
  { account, list }: CountedOwner,
  record: Item,
): record is Item & { origin: string } {
  const { sk, origin } = record;
  return (
    isSourceOrChannelPartition(list.type, account, origin) && sublistKey(list.type, account, origin).sk === sk
  );
}
