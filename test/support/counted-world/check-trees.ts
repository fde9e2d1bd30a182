import { expect } from "vitest";
import { indexes, type Sublist, sublistKey, sublistPrefix } from "../../../shared/dynamodb/keys.ts";
import { isSum } from "../../../shared/pages/find-row.ts";
import type { SublistOwner } from "../../../shared/pages/tree/counted-list.ts";
import type { Entry } from "../../../shared/pages/tree/entry.ts";
import type { Root } from "../../../shared/pages/tree/root.ts";
import { cellNumber } from "../../../shared/pages/tree/statuses.ts";
import { readNode, readRoot } from "../../../shared/pages/tree/tree-store.ts";
import type { MemoryTable } from "../memory-table.ts";
import type { ListedRow, RowKind } from "./row-kind.ts";

/** The sublists of an account that have a tree. */
export function sublistsWithTrees({ list }: RowKind, account: string, table: MemoryTable): Sublist[] {
  const { pk } = sublistKey(list.type, account, { index: "by-origin", partition: "" });
  return [...table.items()]
    .filter((item) => item.pk === pk && String(item.sk).startsWith(sublistPrefix))
    .map(({ index, partition }) => ({ index, partition }) as Sublist);
}

/** Checks that the tree of a sublist has exactly its rows before the watermark. */
export async function checkSublistTree(
  kind: RowKind,
  owner: SublistOwner,
  rows: readonly ListedRow[],
): Promise<void> {
  const { sublist, account } = owner;
  const root = await readRoot(owner);
  if (!root) throw new Error(`The tree of ${sublist.partition} is missing.`);
  const inSublist = rows.filter(
    (row) => kind.toItem(account, row)[indexes[sublist.index]] === sublist.partition,
  );
  const counted = inSublist.filter(({ id }) => id < root.watermark).sort((a, b) => (a.id < b.id ? -1 : 1));
  const expected = counted.map(({ id, status }) => [id, [[cellNumber(root.statuses, status), 1]]]);
  expect(toRows(await readEntries(owner, root)), `the tree of ${sublist.partition}`).toEqual(expected);
}

const toRows = (entries: readonly Entry[]) => entries.map(({ start, cells }) => [start, [...cells]]);

/** The lowest entries of a tree; checks that each entry above is the sum of its node. */
async function readEntries(owner: SublistOwner, root: Root): Promise<readonly Entry[]> {
  let { entries } = root;
  for (let level = root.level; level > 0; level--) {
    const nodes: Entry[] = [];
    for (const entry of entries) {
      const node = await readNode(owner, root.generation, level, entry.start);
      expect(node && isSum(entry, node), `the node ${entry.start} of level ${level}`).toBe(true);
      nodes.push(...(node ?? []));
    }
    entries = nodes;
  }
  return entries;
}
