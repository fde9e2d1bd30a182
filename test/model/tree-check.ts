import assert from "node:assert/strict";
import { labelTreePrefix, nodeName, nodePrefix } from "../../shared/dynamodb/keys.ts";
import type { Item } from "../../shared/dynamodb/table-client.ts";
import type { CountedOwner } from "../../shared/pages/tree/counted-list.ts";
import { decodeEntries, type Entry, isSum, rowBucket } from "../../shared/pages/tree/entry.ts";
import type { Root } from "../../shared/pages/tree/root.ts";
import { countedRow } from "../../shared/pages/tree/rows.ts";
import { treeKey } from "../../shared/pages/tree/tree-store.ts";
import { validRoot } from "../../shared/pages/tree/valid-tree.ts";
import { owner, rowNumber } from "./rows.ts";

/** The data that trees are compared with. */
export interface TreeExpectation {
  /** The items of the table. */
  readonly items: readonly Item[];
  /** The rows of the list, newest first. */
  readonly rows: readonly Item[];
  /** The numbers of the rows with changes that are not counted yet. */
  readonly open: ReadonlySet<number>;
  /** Whether nodes may be missing. */
  readonly isDamaged: boolean;
}

/** Checks the trees: each tree has exactly the rows before its watermark, and all rows that its list has fed. */
export function checkTrees(expected: TreeExpectation): void {
  const list = checkTree(expected, owner);
  for (const labelTree of labelTreesOf(expected.items)) {
    const root = checkTree(expected, labelTree);
    if (!root) continue;
    const missing = rowsOf(expected, labelTree).filter(
      ([sk]) => sk >= root.watermark && sk < (list?.fed ?? ""),
    );
    assert.deepEqual(
      missing,
      [],
      `${labelTree.labelKey} was not fed up to ${list?.fed}, but to ${root.watermark}`,
    );
  }
}

/** The labels of the list that have trees. */
export function labelTreesOf(items: readonly Item[]): CountedOwner[] {
  const { pk, sk } = treeKey(owner, `${labelTreePrefix}#`);
  return items
    .filter((item) => item.pk === pk && String(item.sk).startsWith(sk))
    .map(({ labelKey }) => ({ ...owner, labelKey: String(labelKey) }));
}

/** The item of a tree with a name. */
export function findItem(items: readonly Item[], tree: CountedOwner, name: string): Item | undefined {
  const { pk, sk } = treeKey(tree, name);
  return items.find((item) => item.pk === pk && item.sk === sk);
}

function checkTree(expected: TreeExpectation, tree: CountedOwner): Root | undefined {
  const name = tree.labelKey ?? "the list";
  const item = findItem(expected.items, tree, "root");
  if (!item) {
    assert(tree.labelKey === undefined || expected.isDamaged, `the root of ${name} is missing`);
    return undefined;
  }
  const root = validRoot(tree, item);
  const inNodes = rowsInNodes(expected, tree, root);
  if (inNodes === "damaged") return root;
  assert(!inNodes.some(({ start }) => start >= root.bufferStart), `a node of ${name} has rows of its root`);
  const isOpen = ([sk]: readonly [string, number]) => expected.open.has(rowNumber(sk));
  const counted = [...inNodes, ...root.buffer]
    .map((row): [string, number] => [row.start, rowBucket(row)])
    .filter((row) => !isOpen(row));
  const below = rowsOf(expected, tree).filter(([sk]) => sk < root.watermark);
  assert.deepEqual(counted, below, `the tree of ${name} has other rows below ${root.watermark}`);
  return root;
}

/** The rows without open changes of a list or a label, oldest first: their sort keys and buckets. */
function rowsOf({ rows, open }: TreeExpectation, tree: CountedOwner): [string, number][] {
  return rows
    .filter(({ id }) => !open.has(rowNumber(String(id))))
    .filter((row) => tree.labelKey === undefined || row.byLabel === tree.labelKey)
    .map((row) => countedRow(tree, row))
    .map(({ sk, bucket }): [string, number] => [sk, bucket])
    .reverse();
}

/**
 * The rows in the nodes of a tree. Each entry must be the sum of its node, because one transaction changes both, and no other
 * nodes may be left.
 */
function rowsInNodes({ items, isDamaged }: TreeExpectation, tree: CountedOwner, root: Root) {
  const { pk, sk } = treeKey(tree, `${nodePrefix}${root.generation}#`);
  const names = items
    .filter((item) => item.pk === pk && String(item.sk).startsWith(sk))
    .map((item) => item.sk);
  const unread = new Set(names);
  let { entries } = root;
  for (let level = root.level; level > 0; level--) {
    const below: Entry[] = [];
    for (const entry of entries) {
      const node = findItem(items, tree, nodeName(root.generation, level, entry.start));
      unread.delete(node?.sk);
      const rows = decodeEntries(node?.entries);
      if (!rows || !isSum(entry, rows)) {
        assert(isDamaged, `the node ${entry.start} of level ${level} is missing or not its sum`);
        return "damaged";
      }
      below.push(...rows);
    }
    entries = below;
  }
  assert.deepEqual([...unread], [], "nodes cannot be reached");
  return entries;
}
