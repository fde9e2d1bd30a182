import assert from "node:assert/strict";
import { indexes, nodeName, sublistPrefix } from "../../shared/dynamodb/keys.ts";
import type { Item } from "../../shared/dynamodb/table-client.ts";
import { equalCells, sumCells } from "../../shared/pages/tree/cells.ts";
import { type CountedOwner, countedRow, type SublistOwner } from "../../shared/pages/tree/counted-list.ts";
import { decodeEntries, type Entry } from "../../shared/pages/tree/entry.ts";
import { type Root, toRoot } from "../../shared/pages/tree/root.ts";
import { cellNumber } from "../../shared/pages/tree/statuses.ts";
import { treeKey } from "../../shared/pages/tree/tree-store.ts";

type Tree = { readonly root: Root; readonly leaves: readonly Entry[] };

/** Checks that the entries of a tree in service are the sums of its nodes. @returns its root and its lowest entries */
export function checkSums(items: readonly Item[], owner: CountedOwner): Tree | undefined {
  const find = (name: string) => {
    const { pk, sk } = treeKey(owner, name);
    return items.find((item) => item.pk === pk && item.sk === sk);
  };
  const item = find("root");
  if (!item) return undefined;
  const root = toRoot(item as Parameters<typeof toRoot>[0]);
  let entries = root.entries;
  for (let level = root.level; level > 0; level--) {
    entries = entries.flatMap((entry) => {
      const node = find(nodeName(root.generation, level, entry.start));
      assert(node, `the node ${entry.start} of level ${level} is missing`);
      const below = decodeEntries(node.entries as Uint8Array);
      const sum = sumCells(below.map(({ cells }) => cells));
      assert(equalCells(sum, entry.cells), `the entry of the node ${entry.start} is not its sum`);
      return below;
    });
  }
  return { root, leaves: [...entries, root.last] };
}

/** Checks that the leaves of the tree in service count the rows. */
export function checkLeaves(items: readonly Item[], rows: readonly Item[], owner: CountedOwner): void {
  const tree = checkSums(items, owner);
  if (!tree) return;
  const { root, leaves } = tree;
  assert.deepEqual(root.pending, [], "a leaf is pending");
  const counted = rows.map(countedRow);
  for (const [index, { start, cells }] of leaves.entries()) {
    const end = leaves[index + 1]?.start ?? root.watermark;
    const inside = counted.filter(({ sk }) => sk >= start && sk < end);
    const actual = sumCells(inside.map((row) => new Map([[cellNumber(root.statuses, row.status), 1]])));
    assert(equalCells(cells, actual), `the leaf ${start} counts other rows`);
  }
}

/** The sublists of a list that have trees. */
export function sublistOwners(items: readonly Item[], owner: CountedOwner): SublistOwner[] {
  const { pk, sk } = treeKey(owner, `${sublistPrefix}#`);
  return items
    .filter((item) => item.pk === pk && String(item.sk).startsWith(sk))
    .map(({ index, partition }) => ({ ...owner, sublist: { index, partition } as SublistOwner["sublist"] }));
}

/** Checks that the trees of sublists have exactly their rows below the watermark. */
export function checkSublists(items: readonly Item[], rows: readonly Item[], list: CountedOwner): void {
  for (const owner of sublistOwners(items, list)) {
    const { index, partition } = owner.sublist;
    const tree = checkSums(items, owner);
    assert(tree, `the tree of ${partition} is missing`);
    const { watermark, statuses } = tree.root;
    const below = rows
      .filter((row) => row[indexes[index]] === partition && String(row.sk) < watermark)
      .map(countedRow)
      .reverse();
    const cells = below.map(({ sk, status }) => [sk, [[cellNumber(statuses, status), 1]]]);
    const actual = rowsOf(tree).map((row) => [row.start, [...row.cells]]);
    assert.deepEqual(actual, cells, `the tree of ${partition} has other rows below ${watermark}`);
  }
}

/** The lowest entries without the newest leaf, in which the tree of a sublist has no rows. */
function rowsOf({ root, leaves }: Tree): readonly Entry[] {
  assert.equal(root.last.cells.size, 0);
  return leaves.slice(0, -1);
}
