import { expect } from "vitest";
import { indexes, type Sublist, sublistKey, sublistPrefix } from "../../../shared/dynamodb/keys.ts";
import { isSum } from "../../../shared/pages/find-row.ts";
import type { CountedOwner, Filter, SublistOwner } from "../../../shared/pages/tree/counted-list.ts";
import type { Entry } from "../../../shared/pages/tree/entry.ts";
import { groupName } from "../../../shared/pages/tree/groups.ts";
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

/** Checks that the tree of a sublist, and each of its groups, has exactly its rows before the watermark. */
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
  if (sublist.index !== "by-parent") return;
  for (const filter of groupFilters(kind)) {
    const group = { ...owner, group: groupName(filter) };
    const groupRoot = await readRoot(group);
    const entries = groupRoot ? await readEntries(group, groupRoot) : [];
    const matching = counted.filter(
      ({ status, origin }) =>
        status === (filter.status ?? status) && origin === (filter.sourceOrChannel ?? origin),
    );
    const expectedInGroup = matching.map(({ id }) => [id, [[0, 1]]]);
    expect(toRows(entries), `the group ${JSON.stringify(filter)} of ${sublist.partition}`).toEqual(
      expectedInGroup,
    );
  }
}

function groupFilters({ statuses, origins }: RowKind): Filter[] {
  const all = [undefined, ...statuses].flatMap((status) =>
    [undefined, ...origins].map((sourceOrChannel) => ({ status, sourceOrChannel })),
  );
  return all.filter(({ status, sourceOrChannel }) => status !== undefined || sourceOrChannel !== undefined);
}

const toRows = (entries: readonly Entry[]) => entries.map(({ start, cells }) => [start, [...cells]]);

/** The lowest entries of a tree; checks that each entry above is the sum of its node. */
async function readEntries(owner: CountedOwner, root: Root): Promise<readonly Entry[]> {
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
