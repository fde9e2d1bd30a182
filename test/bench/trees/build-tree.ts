import { TreeEdit } from "../../../shared/pages/maintain/tree-edit.ts";
import { noCells } from "../../../shared/pages/tree/cells.ts";
import { type CountedOwner, countedLists, keyAt } from "../../../shared/pages/tree/counted-list.ts";
import { decodeEntries, type Entry, separator } from "../../../shared/pages/tree/entry.ts";
import { emptyRoot, type Root } from "../../../shared/pages/tree/root.ts";
import type { Statuses } from "../../../shared/pages/tree/statuses.ts";
import type { Limits } from "../../../shared/pages/tree/tree-limits.ts";
import { commit, type Node } from "../../../shared/pages/tree/tree-store.ts";
import { afterRows, type SyntheticRows } from "./rows.ts";
import { SimulatedTable } from "./simulated-table.ts";

/** How a tree is built. */
export interface Building {
  readonly statuses: Statuses;
  readonly limits: Limits;
}

/** The root of a tree, and its nodes. */
export interface BuiltTree {
  readonly root: Root;
  readonly nodes: readonly Node[];
}

/** How many entries a commit adds: far more than a maintainer's, which cuts the same nodes. */
const commitEntries = 5000;

/** Builds a tree over entries as commits of the maintainer do, which add them in order. */
export async function buildTree(
  entries: Iterable<Entry>,
  last: Entry,
  { statuses, limits }: Building,
): Promise<BuiltTree> {
  const owner: CountedOwner = { account: "built", list: countedLists.lead };
  const rows = { size: 0, firstAt: () => 0, key: () => "", isIn: () => false };
  const table = new SimulatedTable(rows);
  const restore = table.use();
  let root: Root = { ...emptyRoot(1, statuses), last, watermark: keyAt(owner.list, afterRows) };
  const add = async (some: readonly Entry[]) => {
    const edit = new TreeEdit(owner, root, { limits });
    await edit.append(some);
    await edit.commit("root");
    root = { ...edit.root, version: root.version + 1 };
  };
  try {
    let some: Entry[] = [];
    for (const entry of entries) {
      some.push(entry);
      if (some.length < commitEntries) continue;
      await add(some);
      some = [];
    }
    await add(some);
    await commit(owner, "root", root, []);
  } finally {
    restore();
  }
  const nodes = [...table.items.values()].filter(({ sk }) => sk !== "root").map(toNode);
  return { root, nodes };
}

function toNode({ sk, entries }: Readonly<Record<string, unknown>>): Node {
  const [, , level, start = ""] = String(sk).split("#");
  return { level: Number(level), start, entries: decodeEntries(entries as Uint8Array) };
}

/** Builds the tree of a whole list: a leaf counts 96 rows. */
export function buildWholeTree(rows: SyntheticRows, building: Building): Promise<BuiltTree> {
  const { leafRows } = building.limits;
  const leaf = (from: number): Entry => ({
    start: from === 0 ? "" : separator(rows.key(from - 1), rows.key(from)),
    cells: countCells(rows, from, Math.min(rows.size, from + leafRows)),
  });
  const lastStart = Math.floor((rows.size - 1) / leafRows) * leafRows;
  function* leaves() {
    for (let from = 0; from < lastStart; from += leafRows) yield leaf(from);
  }
  return buildTree(leaves(), leaf(lastStart), building);
}

/** The numbers of rows from an index to another, exclusive. */
export function countCells(rows: SyntheticRows, from: number, to: number): ReadonlyMap<number, number> {
  if (from >= to) return noCells;
  counts.fill(0);
  for (let index = from; index < to; index++) {
    const cell = rows.cell(index);
    counts[cell] = (counts[cell] as number) + 1;
  }
  const cells = new Map<number, number>();
  for (let cell = 0; cell < mostCells; cell++) {
    const count = counts[cell] as number;
    if (count > 0) cells.set(cell, count);
  }
  return cells;
}

/** More than the cells of four statuses and 16 sources. */
const mostCells = 80;
const counts = new Uint32Array(mostCells);
