import type { Retry } from "../../dynamodb/retry.ts";
import { settledAll } from "../../in-parallel.ts";
import { type CountedOwner, latest } from "../tree/counted-list.ts";
import { type Entry, indexAt, placeAt } from "../tree/entry.ts";
import type { Root } from "../tree/root.ts";
import { type CountedRow, endOf, readStates } from "../tree/rows.ts";
import type { Limits } from "../tree/tree-limits.ts";
import { readNode } from "../tree/tree-store.ts";
import type { MaintainedTree } from "./maintained-tree.ts";
import { editTree, isInRoot, nodeId, type Paths } from "./tree-edit.ts";

/**
 * Sets changed rows in a tree as they are in the table, or removes them, and then sets other rows as they were read: as many
 * of the first rows as a commit has room for. The watermark moves behind the last of these, if it is not there yet.
 *
 * It commits even if no count differs, so that the commit of a slower maintainer, which read a row before its change, fails.
 *
 * @param changed the sort keys of the changed rows, in the order of the stream
 * @param others the other rows, sorted, and after all changed rows
 * @returns the changed rows that are left, and how many of the others were set
 */
export async function setRows(
  tree: MaintainedTree,
  changed: readonly string[],
  others: readonly CountedRow[],
): Promise<{ readonly left: readonly string[]; readonly added: number }> {
  const { owner, context } = tree;
  const { limits, retry } = context;
  const before = await tree.root();
  const first = [...new Set(changed.slice(0, limits.rowsAtOnce))].sort();
  const next = others.slice(0, limits.rowsAtOnce);
  const { paths, reached } = await readPaths(owner, before, [...first, ...next.map(({ sk }) => sk)], context);
  const again = reached.slice(0, first.length);
  const states = await readStates(owner, again, retry);
  const edits = again.map((sk) => {
    const row = states.get(sk);
    const isOfTree = owner.labelKey === undefined || row?.labelKey === owner.labelKey;
    return { sk, bucket: isOfTree ? row?.bucket : undefined };
  });
  edits.push(...next.slice(0, reached.length - again.length));
  const { root, nodes, used } = editTree(before, paths, edits, limits);
  const end = endOf(edits.slice(0, used));
  // The root of an erased account's list expires while it counts no rows.
  const expiresAt = root.entries.length + root.buffer.length > 0 ? undefined : root.expiresAt;
  await tree.commit({ ...root, watermark: latest(root.watermark, end), expiresAt }, nodes);
  const done = new Set(again.slice(0, used));
  return { left: changed.filter((sk) => !done.has(sk)), added: used - done.size };
}

/** The entries of a node or the root, the sort key where its rows end, and the sort keys whose paths lead there. */
interface Fork {
  readonly entries: readonly Entry[];
  readonly end: string;
  readonly sks: readonly string[];
}

const waysFrom = ({ entries, end, sks }: Fork) =>
  Array.from(
    Map.groupBy(sks, (sk) => indexAt(entries, sk)),
    ([index, sks]) => ({ place: placeAt(entries, index, end), sks }),
  );

/**
 * Reads the nodes on the paths to rows, level by level, up to the limit.
 *
 * @param sks sorted
 * @returns the nodes, and the sort keys whose paths are complete: the first ones
 */
export async function readPaths(
  owner: CountedOwner,
  root: Root,
  sks: readonly string[],
  { limits, retry }: { readonly limits: Limits; readonly retry: Retry },
): Promise<{ readonly paths: Paths; readonly reached: readonly string[] }> {
  const paths = new Map<string, readonly Entry[]>();
  const inNodes = sks.filter((sk) => !isInRoot(root, sk));
  // The root may have to append its rows to the nodes, behind the last node.
  const appends = root.entries.length > 0 && root.buffer.length + sks.length > limits.nodeRows;
  const wanted = appends ? [...inNodes, root.bufferStart] : inNodes;
  let forks: readonly Fork[] = [{ entries: root.entries, end: root.bufferStart, sks: wanted }];
  for (let level = root.level; level > 0; level--) {
    const ways = forks.flatMap(waysFrom).slice(0, limits.nodesRead);
    const reads = ways.map(async ({ place, sks }) => {
      const entries = await readNode(owner, root, level, place, retry, true);
      paths.set(nodeId(level, place.entry.start), entries);
      return { entries, end: place.end, sks };
    });
    forks = await settledAll(reads);
  }
  const reached = forks.flatMap(({ sks }) => sks);
  return { paths, reached: reached.length === wanted.length ? sks : reached.slice(0, inNodes.length) };
}
