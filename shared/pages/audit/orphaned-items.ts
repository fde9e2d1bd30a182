import { DeleteCommand } from "@aws-sdk/lib-dynamodb";
import { classify } from "../../dynamodb/dynamodb-errors.ts";
import { nodePrefix } from "../../dynamodb/keys.ts";
import { type Pace, readsPerWrite } from "../../dynamodb/pace.ts";
import { inPartition, queryItems } from "../../dynamodb/read-pages.ts";
import { type Item, isAsRead, type Key, table, tableName } from "../../dynamodb/table-client.ts";
import { inParallel } from "../../in-parallel.ts";
import type { CountedOwner } from "../tree/counted-list.ts";
import { isRecordOf, readLabelTrees } from "../tree/label-tree-records.ts";
import { readValidRoot, treeKey } from "../tree/tree-store.ts";

/**
 * Removes orphaned items beside the counts of a list, which no list and no maintainer reads: nodes of trees that were
 * emptied, and items that no maintainer writes.
 *
 * @param onUnknown called with numbers of items that no maintainer writes, before they are removed
 * @param dryRun whether they are only counted
 */
export async function removeOrphanedItems(
  list: CountedOwner,
  pace: Pace,
  onUnknown: (count: number) => void,
  dryRun = false,
): Promise<void> {
  await inParallel([list, ...(await readLabelTrees(list, pace))], async (owner) => {
    // Before the nodes: those of a later tree have a later generation.
    const { generation = 0 } = (await pace.retry(() => readValidRoot(owner))) ?? {};
    await pace.spend(1);
    const items = { ...inPartition(treeKey(owner, "").pk), ProjectionExpression: "pk, sk, labelKey" };
    for await (const page of queryItems(items, pace)) {
      const orphaned = (page as (Item & Key)[]).filter((item) => !isUsed(owner, generation, item));
      onUnknown(orphaned.filter(({ sk }) => !isNode(sk)).length);
      if (!dryRun) await inParallel(orphaned, (item) => removeItem(item, pace));
    }
  });
}

const isNode = (sk: string) => sk.startsWith(nodePrefix);

/** Whether a maintainer may read an item of a tree's partition, given the generation of its root: 0 without one. */
function isUsed(owner: CountedOwner, generation: number, item: Item & Key): boolean {
  const { sk } = item;
  if (isNode(sk)) return Number(sk.slice(nodePrefix.length).split("#")[0]) >= generation;
  return sk === "root" || (owner.labelKey === undefined && isRecordOf(owner, item));
}

/** Deletes an item, unless a maintainer has written it meanwhile: of what it may write, only a record can be orphaned. */
async function removeItem({ pk, sk, labelKey }: Item & Key, pace: Pace): Promise<void> {
  const command = new DeleteCommand({
    TableName: tableName,
    Key: { pk, sk },
    ...isAsRead("labelKey", labelKey),
  });
  await pace.retry(() =>
    table.send(command).catch((error: unknown) => {
      if (classify(error) !== "conflict") throw error;
    }),
  );
  await pace.spend(readsPerWrite);
}
