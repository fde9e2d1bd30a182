import { nodePrefix, parseGeneration } from "../../../../shared/dynamodb/keys.ts";
import type { CountedOwner } from "../../../../shared/pages/tree/counted-list.ts";
import { readRoot, treeKey } from "../../../../shared/pages/tree/tree-store.ts";
import type { Pace } from "../../common/pace.ts";
import { deleteItems } from "../../common/write-items.ts";
import { readTreeItems } from "../tree-items.ts";

/** Deletes the nodes of trees older than the one in service. A newer tree may belong to a running rebuild. */
export async function deleteOldNodes(owner: CountedOwner, pace: Pace): Promise<void> {
  const live = await pace.retry(() => readRoot(owner));
  if (!live) return;
  const { pk } = treeKey(owner, "");
  for await (const items of readTreeItems(owner, nodePrefix, pace)) {
    const names = items.map(({ sk }) => String(sk));
    const old = names.filter((sk) => parseGeneration(sk) < live.generation);
    await deleteItems(
      old.map((sk) => ({ pk, sk })),
      pace,
    );
  }
}
