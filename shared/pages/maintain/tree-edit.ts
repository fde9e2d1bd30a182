import { isDeepStrictEqual } from "node:util";
import { cut } from "../../cut.ts";
import { type Entry, indexAt, rowEntry, separator, sumEntry } from "../tree/entry.ts";
import type { Root } from "../tree/root.ts";
import type { Limits } from "../tree/tree-limits.ts";
import type { Node } from "../tree/tree-store.ts";

/** A row to set in a tree with its bucket, or without a bucket if the tree must not have the row. */
export interface RowEdit {
  readonly sk: string;
  readonly bucket: number | undefined;
}

/** The nodes on the paths to sort keys, by level and start. */
export type Paths = ReadonlyMap<string, readonly Entry[]>;

/** Identifies a node of a tree. */
export const nodeId = (level: number, start: string) => `${level} ${start}`;

/** Whether a row is in the root, or would be if the tree had it. */
export const isInRoot = ({ entries, bufferStart }: Root, sk: string) =>
  entries.length === 0 || sk >= bufferStart;

/**
 * Sets rows in a tree: as many of the first ones as a commit has room for.
 *
 * @param edits sorted; their paths have been read
 * @returns the root and the nodes to write, and how many of the edits they contain
 */
export function editTree(root: Root, paths: Paths, edits: readonly RowEdit[], limits: Limits) {
  for (let used = edits.length; ; used = Math.ceil(used / 2)) {
    const edited = setAll(root, paths, edits.slice(0, used), limits);
    if (edited.nodes.length <= limits.nodesWritten || used <= 1) return { ...edited, used };
  }
}

function setAll(root: Root, paths: Paths, edits: readonly RowEdit[], limits: Limits) {
  const { nodeRows, nodeEntries } = limits;
  const nodes: Node[] = [];
  /** Puts the entries of a node into one or several nodes. @returns their entries one level up */
  const putParts = (level: number, start: string, parts: readonly (readonly Entry[])[]): Entry[] =>
    parts.map((entries, index) => {
      const before = parts[index - 1]?.at(-1)?.start;
      const at = entries[0]?.start ?? "";
      const partStart = before === undefined ? start : level === 1 ? separator(before, at) : at;
      nodes.push({ level, start: partStart, entries });
      return sumEntry(partStart, entries);
    });
  /** The entries for the nodes of a level after the edits, or the rows themselves. */
  const edit = (
    level: number,
    entries: readonly Entry[],
    edits: readonly RowEdit[],
    appended: readonly Entry[],
  ): readonly Entry[] => {
    if (level === 0) return mergeRows(entries, edits);
    const byEntry = Map.groupBy(edits, ({ sk }) => indexAt(entries, sk));
    const edited = entries.flatMap((entry, index) => {
      const own = byEntry.get(index) ?? [];
      const added = level > 1 && index === entries.length - 1 ? appended : [];
      if (own.length + added.length === 0) return entry;
      const node = paths.get(nodeId(level, entry.start));
      if (!node) throw new Error(`The node ${entry.start} of level ${level} has not been read.`);
      const changed = edit(level - 1, node, own, added);
      if (isDeepStrictEqual(changed, node)) return entry;
      return putParts(level, entry.start, split(changed, level === 1 ? nodeRows : nodeEntries));
    });
    return level === 1 ? [...edited, ...appended] : edited;
  };
  const inNodes = edits.filter(({ sk }) => !isInRoot(root, sk));
  const parts = cut(mergeRows(root.buffer, edits.slice(inNodes.length)), nodeRows);
  const buffer = parts.pop() ?? [];
  const moved = parts.at(-1)?.at(-1)?.start;
  let { level } = root;
  let entries = edit(level, root.entries, inNodes, putParts(1, root.bufferStart, parts));
  while (entries.length > nodeEntries) {
    level++;
    entries = putParts(level, entries[0]?.start ?? "", split(entries, nodeEntries));
  }
  const bufferStart = moved === undefined ? root.bufferStart : separator(moved, buffer[0]?.start ?? "");
  return { root: { ...root, level, entries, buffer, bufferStart }, nodes };
}

/** Splits entries that are too many for a node, and leaves about a tenth of each node free. Nodes are never merged. */
const split = (entries: readonly Entry[], most: number) =>
  entries.length <= most ? [entries] : cut(entries, Math.ceil(0.9 * most));

function mergeRows(rows: readonly Entry[], edits: readonly RowEdit[]): readonly Entry[] {
  const merged = new Map(rows.map((row) => [row.start, row]));
  for (const { sk, bucket } of edits) {
    if (bucket === undefined) merged.delete(sk);
    else merged.set(sk, rowEntry(sk, bucket));
  }
  return [...merged.values()].sort((a, b) => (a.start < b.start ? -1 : 1));
}
