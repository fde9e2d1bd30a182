import { type Sublist, sublistPrefix } from "../../../shared/dynamodb/keys.ts";
import type { Item } from "../../../shared/dynamodb/table-client.ts";
import type { CountedOwner, SublistOwner } from "../../../shared/pages/tree/counted-list.ts";
import { treeKey } from "../../../shared/pages/tree/tree-store.ts";
import type { Pace } from "../common/pace.ts";
import { queryItems } from "../common/read-items.ts";

/** Reads the items of a tree whose names have a prefix, page by page: some of their attributes, and `sk`, their names. */
export function readTreeItems(
  owner: CountedOwner,
  prefix: string,
  pace: Pace,
  attributes: readonly string[] = [],
): AsyncGenerator<readonly Item[]> {
  const names = ["sk", ...attributes];
  const selection = {
    KeyConditionExpression: "pk = :pk AND begins_with(sk, :prefix)",
    ExpressionAttributeValues: { ":pk": treeKey(owner, "").pk, ":prefix": prefix },
    ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
    ProjectionExpression: names.map((name) => `#${name}`).join(", "),
  };
  return queryItems(selection, pace);
}

/** The sublists of a list that have trees of their own. */
export async function readSublists(whole: CountedOwner, pace: Pace): Promise<SublistOwner[]> {
  const sublists: SublistOwner[] = [];
  for await (const items of readTreeItems(whole, `${sublistPrefix}#`, pace, ["index", "partition"]))
    for (const { index, partition } of items as unknown as readonly Sublist[])
      sublists.push({ ...whole, sublist: { index, partition } });
  return sublists;
}

/** What a tree counts: the source or channel of a sublist; nothing for a whole list. */
export const describeSublist = ({ list, sublist }: CountedOwner): Readonly<Record<string, string>> =>
  sublist ? { [list.attribute]: decodeURIComponent(sublist.partition.split("#").at(-1) ?? "") } : {};
