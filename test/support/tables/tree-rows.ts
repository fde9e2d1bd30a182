import type { CountedOwner } from "../../../shared/pages/tree/counted-list.ts";
import { type Entry, placeAt } from "../../../shared/pages/tree/entry.ts";
import type { Root } from "../../../shared/pages/tree/root.ts";
import { DamagedTreeError, readNode } from "../../../shared/pages/tree/tree-store.ts";

/** The rows of a tree, in order; undefined if one of its nodes is missing or differs from its sums. */
export async function treeRows(owner: CountedOwner, root: Root): Promise<readonly Entry[] | undefined> {
  let { entries } = root;
  for (let level = root.level; level > 0; level--) {
    const below: Entry[] = [];
    for (const index of entries.keys()) {
      try {
        const place = placeAt(entries, index, root.bufferStart);
        below.push(...(await readNode(owner, root, level, place, (call) => call())));
      } catch (error) {
        if (error instanceof DamagedTreeError) return undefined;
        throw error;
      }
    }
    entries = below;
  }
  return [...entries, ...root.buffer];
}
