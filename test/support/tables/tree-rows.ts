import assert from "node:assert/strict";
import { nodeName, nodePrefix } from "../../../shared/dynamodb/keys.ts";
import type { Item } from "../../../shared/dynamodb/table-client.ts";
import type { CountedOwner } from "../../../shared/pages/tree/counted-list.ts";
import { type Entry, placeAt } from "../../../shared/pages/tree/entry.ts";
import type { Root } from "../../../shared/pages/tree/root.ts";
import { treeKey } from "../../../shared/pages/tree/tree-store.ts";
import { validEntries } from "../../../shared/pages/tree/valid-tree.ts";

/**
 * The rows of a tree, in order; undefined if one of its nodes is missing or differs from its sums.
 *
 * @param items all items of the table
 * @throws Error when the tree has nodes that cannot be reached from its root
 */
export function treeRows(
  items: Iterable<Item>,
  tree: CountedOwner,
  root: Root,
): readonly Entry[] | undefined {
  const { pk, sk } = treeKey(tree, `${nodePrefix}${root.generation}#`);
  const ofTree = [...items].filter((item) => item.pk === pk && String(item.sk).startsWith(sk));
  const nodes = new Map(ofTree.map((item) => [item.sk, item]));
  let { entries } = root;
  for (let level = root.level; level > 0; level--) {
    const below: Entry[] = [];
    for (const index of entries.keys()) {
      const place = placeAt(entries, index, root.bufferStart);
      const name = treeKey(tree, nodeName(root.generation, level, place.entry.start)).sk;
      const rows = validEntries(tree.list, nodes.get(name), level, place);
      if (!rows) return undefined;
      nodes.delete(name);
      below.push(...rows);
    }
    entries = below;
  }
  assert.deepEqual([...nodes.keys()], [], "nodes cannot be reached");
  return [...entries, ...root.buffer];
}
