import assert from "node:assert/strict";
import { countNodeKey, nodeName } from "../../shared/dynamodb/keys.ts";
import type { Item } from "../../shared/dynamodb/table-client.ts";
import { equalCells, sumCells } from "../../shared/pages/tree/cells.ts";
import { countedRow } from "../../shared/pages/tree/counted-list.ts";
import { decodeEntries, type Entry } from "../../shared/pages/tree/entry.ts";
import { cellNumber } from "../../shared/pages/tree/names.ts";
import { type Root, toRoot } from "../../shared/pages/tree/root.ts";
import { account, owner } from "./scenario.ts";

/** Checks that the entries of the tree in service are the sums of its nodes. @returns its root and all its leaves */
export function checkSums(items: readonly Item[]): { root: Root; leaves: readonly Entry[] } | undefined {
  const { pk } = countNodeKey(owner.list.type, account, "");
  const find = (name: string) => items.find((item) => item.pk === pk && item.sk === name);
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
export function checkLeaves(items: readonly Item[], rows: readonly Item[]): void {
  const tree = checkSums(items);
  if (!tree) return;
  const { root, leaves } = tree;
  assert.deepEqual(root.pending, [], "a leaf is pending");
  const counted = rows.map((row) => countedRow(owner.list, row));
  for (const [index, { start, cells }] of leaves.entries()) {
    const end = leaves[index + 1]?.start ?? root.watermark;
    const inside = counted.filter(({ sk }) => sk >= start && sk < end);
    const actual = sumCells(inside.map((row) => new Map([[cellNumber(root.names, row), 1]])));
    assert(equalCells(cells, actual), `the leaf ${start} counts other rows`);
  }
}
