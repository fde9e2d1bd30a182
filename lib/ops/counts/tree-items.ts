import { nodePrefix, parseGeneration, type Sublist, sublistPrefix } from "../../../shared/dynamodb/keys.ts";
import type { CountedList, CountedOwner, SublistOwner } from "../../../shared/pages/tree/counted-list.ts";
import { readRoot, treeKey } from "../../../shared/pages/tree/tree-store.ts";
import type { Pace } from "../common/pace.ts";
import { queryItems } from "../common/read-items.ts";
import { deleteItems } from "../common/write-items.ts";

/** Reads the items of a tree whose names have a prefix, page by page. */
export const readTreeItems = (owner: CountedOwner, prefix: string, pace: Pace) =>
  queryItems(
    {
      KeyConditionExpression: "pk = :pk AND begins_with(sk, :prefix)",
      ExpressionAttributeValues: { ":pk": treeKey(owner, "").pk, ":prefix": prefix },
    },
    pace,
  );

/** Deletes the nodes of trees older than the one in service. A newer tree may belong to a running rebuild. */
export async function deleteOldNodes(owner: CountedOwner, pace: Pace): Promise<void> {
  const live = await pace.retry(() => readRoot(owner));
  if (!live) return;
  const { pk } = treeKey(owner, "");
  for await (const items of readTreeItems(owner, nodePrefix, pace)) {
    const keys = items.map(({ sk }) => ({ pk, sk: String(sk) }));
    await deleteItems(
      keys.filter(({ sk }) => parseGeneration(sk) < live.generation),
      pace,
    );
  }
}

/** The sublists of a list that have trees of their own. */
export async function readSublists(whole: CountedOwner, pace: Pace): Promise<SublistOwner[]> {
  const sublists: SublistOwner[] = [];
  for await (const items of readTreeItems(whole, `${sublistPrefix}#`, pace))
    for (const { index, partition } of items as unknown as readonly Sublist[])
      sublists.push({ ...whole, sublist: { index, partition } });
  return sublists;
}

/** What a tree counts: the source or channel of a sublist; nothing for a whole list. */
export const describeSublist = ({
  list,
  sublist,
}: CountedOwner): Readonly<Partial<Record<CountedList["attribute"], string>>> =>
  sublist ? { [list.attribute]: decodeURIComponent(sublist.partition.split("#").at(-1) ?? "") } : {};
