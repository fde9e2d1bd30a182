import type { Retry } from "../../dynamodb/retry.ts";
import { settledAll } from "../../in-parallel.ts";
import type { CountedOwner } from "../tree/counted-list.ts";
import { type Entry, indexAt, type Place, placeAt } from "../tree/entry.ts";
import type { Root } from "../tree/root.ts";
import { type CountedRow, isOf, readStates } from "../tree/rows.ts";
import type { Limits } from "../tree/tree-limits.ts";
import { readNode } from "../tree/tree-store.ts";
import type { MaintainedTree } from "./maintained-tree.ts";
import { editTree, isInRoot, nodeId, type Paths } from "./tree-edit.ts";

/**
 * Sets changed rows in a tree as they are in the table, and after them other rows as they were read: as many of the first
 * ones as a commit has room for.
 *
 * @param changed their sort keys, in the order of the stream
 * @param others sorted, and after all changed rows
 * @returns the tree; the last changed row that was set, and those that are left; and the other rows that were set
 * @throws TreeChangedError when another commit came first
 * @throws DamagedTreeError when a node is not what the root says
 */
export async function setRows(
  tree: MaintainedTree,
  changed: readonly string[],
  others: readonly CountedRow[],
) {
  const { owner, context } = tree;
  const { limits, retry } = context;
  const root = await tree.root();
  const first = [...new Set(changed.slice(0, limits.rowsAtOnce))].sort();
  const next = others.slice(0, limits.rowsAtOnce);
  const { paths, reached } = await readPaths(owner, root, [...first, ...next.map(({ sk }) => sk)], context);
  const again = reached.slice(0, first.length);
  const states = await readStates(owner, again, retry);
  const edits = again.map((sk) => {
    const row = states.get(sk);
    return { sk, bucket: row && isOf(owner)(row) ? row.bucket : undefined };
  });
  const reachedNext = next.slice(0, reached.length - again.length);
  const edited = editTree(root, paths, [...edits, ...reachedNext], limits);
  const done = new Set(again.slice(0, edited.used));
  return {
    ...edited,
    newest: [...done].at(-1),
    left: changed.filter((sk) => !done.has(sk)),
    added: next.slice(0, edited.used - done.size),
  };
}

/** A node, or the root, where its rows end, and the sort keys whose ways lead there. */
interface Fork {
  readonly entries: readonly Entry[];
  readonly end: string;
  readonly sks: readonly string[];
}

/** The ways from a fork to the nodes below it. */
const waysFrom = ({ entries, end, sks }: Fork) =>
  Array.from(
    Map.groupBy(sks, (sk) => indexAt(entries, sk)),
    ([index, sks]) => ({
      place: placeAt(entries, index, end),
      sks,
    }),
  );

/**
 * Reads the nodes on the ways to rows, level by level, up to the limit.
 *
 * @param sks sorted
 * @returns the nodes, and the sort keys whose ways they are: the first ones
 * @throws DamagedTreeError when a node is missing, or not what its entry says
 * @throws TreeChangedError when that is so because another commit came first
 */
export async function readPaths(
  owner: CountedOwner,
  root: Root,
  sks: readonly string[],
  { limits, retry }: { readonly limits: Limits; readonly retry: Retry },
): Promise<{ readonly paths: Paths; readonly reached: readonly string[] }> {
  const paths = new Map<string, readonly Entry[]>();
  const read = async (level: number, place: Place) => {
    const id = nodeId(level, place.entry.start);
    const entries = paths.get(id) ?? (await readNode(owner, root, level, place, retry, true));
    paths.set(id, entries);
    return entries;
  };
  /** Reads the nodes of a level and those below it, down to another level. @returns the last ones */
  const descend = async (level: number, lowest: number, forks: readonly Fork[]): Promise<readonly Fork[]> => {
    if (level < lowest) return forks;
    const ways = forks.flatMap(waysFrom).slice(0, limits.nodesRead);
    const reads = ways.map(async ({ place, sks }) => ({
      ...{ entries: await read(level, place), end: place.end },
      sks,
    }));
    return descend(level - 1, lowest, await settledAll(reads));
  };
  const from = (sks: readonly string[]) => [{ entries: root.entries, end: root.lastStart, sks }];
  const inNodes = sks.filter((sk) => !isInRoot(root, sk));
  const reached = (await descend(root.level, 1, from(inNodes))).flatMap(({ sks }) => sks);
  // The root may have to append rows to the nodes: new nodes of rows are appended to the last node above them.
  if (root.last.length + sks.length > limits.nodeRows) await descend(root.level, 2, from([root.lastStart]));
  return { paths, reached: reached.length === inNodes.length ? sks : reached };
}
