import assert from "node:assert/strict";
import { labelTreePrefix } from "../../shared/dynamodb/keys.ts";
import type { Item } from "../../shared/dynamodb/table-client.ts";
import type { CountedOwner } from "../../shared/pages/tree/counted-list.ts";
import { rowBucket } from "../../shared/pages/tree/entry.ts";
import type { Root } from "../../shared/pages/tree/root.ts";
import { countedRow } from "../../shared/pages/tree/rows.ts";
import { treeKey } from "../../shared/pages/tree/tree-store.ts";
import { validRoot } from "../../shared/pages/tree/valid-tree.ts";
import { treeRows } from "../support/tables/tree-rows.ts";
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
  const rows = treeRows(expected.items, tree, root);
  if (!rows) {
    assert(expected.isDamaged, `a node of ${name} is missing or not its sum`);
    return root;
  }
  const isOpen = ([sk]: readonly [string, number]) => expected.open.has(rowNumber(sk));
  const counted = rows
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
