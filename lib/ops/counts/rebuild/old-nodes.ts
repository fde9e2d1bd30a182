import { nodePrefix, parseGeneration } from "../../../../shared/dynamodb/keys.ts";
import type { CountedOwner } from "../../../../shared/pages/tree/counted-list.ts";
import { readRoot, treeKey } from "../../../../shared/pages/tree/tree-store.ts";
import type { Pace } from "../../common/pace.ts";
import { deleteItems } from "../../common/write-items.ts";
import { groupPrefix, readTreeItems } from "../tree-items.ts";

/** Deletes the nodes of trees older than the one in service. A newer tree may belong to a running rebuild. */
export async function deleteOldNodes(owner: CountedOwner, pace: Pace): Promise<void> {
  const live = await pace.retry(() => readRoot(owner));
  if (!live) return;
  const { pk } = treeKey(owner, "");
  for (const prefix of owner.sublist ? [nodePrefix, groupPrefix] : [nodePrefix]) {
    for await (const items of readTreeItems(owner, prefix, pace)) {
      const old = items.map(({ sk }) => String(sk)).filter((sk) => isOld(sk, live.generation));
      await deleteItems(
        old.map((sk) => ({ pk, sk })),
        pace,
      );
    }
  }
}

/** Whether a name is one of a node of an earlier generation. The nodes of a group have the group's name before theirs. */
function isOld(name: string, generation: number): boolean {
  const at = name.indexOf(nodePrefix);
  return at >= 0 && parseGeneration(name.slice(at)) < generation;
}
