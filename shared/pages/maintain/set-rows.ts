import type { CountedOwner } from "../tree/counted-list.ts";
import { type Entry, indexAt } from "../tree/entry.ts";
import type { Root } from "../tree/root.ts";
import { type CountedRow, isOf, readStates } from "../tree/rows.ts";
import { readNode } from "../tree/tree-store.ts";
import { settledAll } from "./in-parallel.ts";
import { type Edited, editTree, isInRoot, nodeId, type Paths } from "./tree-edit.ts";
import type { Means } from "./tree-steps.ts";

/** A tree in which changed rows, and then new ones, were set: as many of the first ones as a commit has room for. */
interface EditedRows extends Edited {
  /** The changed rows that were set and exist. */
  readonly rows: readonly CountedRow[];
  /** The sort key of the last changed row that was set; undefined without any. */
  readonly newest: string | undefined;
  /** The changed rows that are left, in their order. */
  readonly left: readonly string[];
  /** The new rows that were set. */
  readonly added: readonly CountedRow[];
}

/**
 * Sets changed rows in a tree as they are in the table, and after them new rows as they were read.
 *
 * @param changed their sort keys, in the order of the stream
 * @param settled the new ones, sorted
 * @throws TreeChangedError when another commit came first
 * @throws DamagedTreeError when a node is not what the root says
 */
export async function setChangedRows(
  owner: CountedOwner,
  root: Root,
  changed: readonly string[],
  settled: readonly CountedRow[],
  means: Means,
): Promise<EditedRows> {
  const { limits, retry } = means;
  const first = [...new Set(changed.slice(0, limits.rowsAtOnce))].sort();
  const { paths, reached } = await readPaths(owner, root, first, first.length + settled.length, means);
  const states = await readStates(owner, reached, retry);
  const edits = reached.map((sk) => {
    const row = states.get(sk);
    return { sk, cell: row && isOf(owner)(row) ? row.cell : undefined };
  });
  const next = reached.length === first.length ? settled : [];
  const edited = editTree(root, paths, [...edits, ...next], limits);
  const done = new Set(reached.slice(0, edited.used));
  return {
    ...edited,
    rows: [...done].flatMap((sk) => states.get(sk) ?? []),
    newest: [...done].at(-1),
    left: changed.filter((sk) => !done.has(sk)),
    added: settled.slice(0, Math.max(0, edited.used - reached.length)),
  };
}

/** Sets rows, which are sorted, in a tree: as many of the first ones as a commit has room for. */
export async function setRows(
  owner: CountedOwner,
  root: Root,
  rows: readonly CountedRow[],
  means: Means,
): Promise<Edited> {
  const some = rows.slice(0, means.limits.rowsAtOnce);
  const sks = some.map(({ sk }) => sk);
  const { paths, reached } = await readPaths(owner, root, sks, sks.length, means);
  return editTree(root, paths, some.slice(0, reached.length), means.limits);
}

/**
 * Reads the nodes on the ways to rows, level by level, up to the limit.
 *
 * @param sks sorted
 * @param added how many rows the root may get: it may have to append rows to the nodes
 * @returns the nodes, and the sort keys whose ways they are: the first ones
 * @throws DamagedTreeError when a node is missing, or is not what its entry sums up
 * @throws TreeChangedError when that is so because another commit came first
 */
export async function readPaths(
  owner: CountedOwner,
  root: Root,
  sks: readonly string[],
  added: number,
  { limits, retry }: Means,
): Promise<{ readonly paths: Paths; readonly reached: readonly string[] }> {
  const paths = new Map<string, readonly Entry[]>();
  const read = async (level: number, entry: Entry) => {
    const id = nodeId(level, entry.start);
    const entries = paths.get(id) ?? (await readNode(owner, root, level, entry, retry));
    paths.set(id, entries);
    return entries;
  };
  const inNodes = sks.filter((sk) => !isInRoot(root, sk));
  let holders = [{ entries: root.entries, sks: inNodes }];
  for (let level = root.level; level > 0; level--) {
    const ways = holders.flatMap(({ entries, sks }) => {
      const byEntry = Map.groupBy(sks, (sk) => indexAt(entries, sk));
      return [...byEntry].map(([index, sks]) => ({ entry: entries[index] as Entry, sks }));
    });
    const reads = ways.slice(0, limits.nodesRead).map(async ({ entry, sks }) => {
      return { entries: await read(level, entry), sks };
    });
    holders = await settledAll(reads);
  }
  let last = root.entries.at(-1);
  // New nodes of rows are appended to the last node above them.
  if (root.last.length + added > limits.nodeRows)
    for (let level = root.level; level > 1 && last; level--) last = (await read(level, last)).at(-1);
  const reached = holders.flatMap(({ sks }) => sks);
  return { paths, reached: reached.length === inNodes.length ? sks : reached };
}
