import { sublistPrefix } from "../../dynamodb/keys.ts";
import type { Pace } from "../../dynamodb/pace.ts";
import { queryAll, withPrefix } from "../../dynamodb/read-pages.ts";
import type { CountedOwner, SublistOwner } from "../tree/counted-list.ts";
import { treeKey } from "../tree/tree-store.ts";

/** The records of the sublists of a list that have trees. */
export const sublistRecords = (list: CountedOwner) => withPrefix(treeKey(list, "").pk, `${sublistPrefix}#`);

/** Reads the sublists of a list that have trees, by their records. */
export async function readSublists(list: CountedOwner, pace: Pace): Promise<SublistOwner[]> {
  const records = await queryAll(sublistRecords(list), pace);
  return records.flatMap(({ origin }) => (typeof origin === "string" ? { ...list, origin } : []));
}
