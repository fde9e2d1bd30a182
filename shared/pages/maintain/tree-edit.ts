import { isDeepStrictEqual } from "node:util";
import { cut, type Entry, indexAt, rowEntry, separator, sumEntry } from "../tree/entry.ts";
import type { Root } from "../tree/root.ts";
import type { Limits } from "../tree/tree-limits.ts";
import type { Node } from "../tree/tree-store.ts";

/** A row to set in a tree: with its bucket, or without it if the tree shall not have the row. */
export interface RowEdit {
  readonly sk: string;
  readonly bucket: number | undefined;
}

/** The nodes on the ways to sort keys, by level and start. */
export type Paths = ReadonlyMap<string, readonly Entry[]>;

/** A tree after an edit, before its commit. */
interface Edited {
  readonly root: Root;
  /** The nodes to write. */
  readonly nodes: readonly Node[];
  /** How many of the edits it has. */
  readonly used: number;
}

/** Identifies a node of a tree. */
export const nodeId = (level: number, start: string) => `${level} ${start}`;

function nodeAt(paths: Paths, level: number, start: string): readonly Entry[] {
  const node = paths.get(nodeId(level, start));
  if (!node) throw new Error(`The node ${start} of level ${level} has not been read.`);
  return node;
}

/** Whether a row is in the root, or would be. */
export const isInRoot = ({ entries, lastStart }: Root, sk: string) => entries.length === 0 || sk >= lastStart;

/**
 * Sets rows in a tree: as many of the first ones as a commit has room for.
 *
 * @param edits sorted; their paths have been read
 */
export function editTree(root: Root, paths: Paths, edits: readonly RowEdit[], limits: Limits): Edited {
  for (let used = edits.length; ; used = Math.ceil(used / 2)) {
    const edit = new TreeEdit(paths, limits);
    const edited = { root: edit.apply(root, edits.slice(0, used)), nodes: edit.nodes, used };
    if (edited.nodes.length <= limits.nodesWritten || used <= 1) return edited;
  }
}

class TreeEdit {
  /** The nodes to write. */
  readonly nodes: Node[] = [];
  readonly #paths: Paths;
  readonly #limits: Limits;

  constructor(paths: Paths, limits: Limits) {
    this.#paths = paths;
    this.#limits = limits;
  }

  apply(root: Root, edits: readonly RowEdit[]): Root {
    const { nodeRows, nodeEntries } = this.#limits;
    const inNodes = edits.filter(({ sk }) => !isInRoot(root, sk));
    const rows = mergeRows(root.last, edits.slice(inNodes.length));
    const parts = cut(rows, nodeRows);
    const last = parts.pop() ?? [];
    const moved = parts.at(-1)?.at(-1)?.start;
    const appended = this.#putParts(1, root.lastStart, parts);
    let { level } = root;
    let entries = this.#edit(level, root.entries, inNodes, appended);
    while (entries.length > nodeEntries) {
      level++;
      const parts = split(entries, nodeEntries);
      entries = this.#putParts(level, parts[0]?.[0]?.start ?? "", parts);
    }
    const lastStart = moved === undefined ? root.lastStart : separator(moved, last[0]?.start ?? "");
    return { ...root, level, entries, last, lastStart };
  }

  /** Puts the entries of a node into one or several nodes. @returns their entries one level up */
  #putParts(level: number, start: string, parts: readonly (readonly Entry[])[]): Entry[] {
    let partStart = start;
    return parts.map((entries, index) => {
      const before = parts[index - 1]?.at(-1)?.start;
      const at = entries[0]?.start ?? "";
      if (before !== undefined) partStart = level === 1 ? separator(before, at) : at;
      this.nodes.push({ level, start: partStart, entries });
      return sumEntry(partStart, entries);
    });
  }

  /** The entries for the nodes of a level after the edits, or the rows themselves; the same array if nothing differs. */
  #edit(
    level: number,
    entries: readonly Entry[],
    edits: readonly RowEdit[],
    appended: readonly Entry[],
  ): readonly Entry[] {
    if (level === 0) return mergeRows(entries, edits);
    const { nodeRows, nodeEntries } = this.#limits;
    const byEntry = Map.groupBy(edits, ({ sk }) => indexAt(entries, sk));
    const edited = entries.flatMap((entry, index) => {
      const own = byEntry.get(index) ?? [];
      const added = level > 1 && index === entries.length - 1 ? appended : [];
      if (own.length + added.length === 0) return entry;
      const node = nodeAt(this.#paths, level, entry.start);
      const changed = this.#edit(level - 1, node, own, added);
      if (changed === node) return entry;
      return this.#putParts(level, entry.start, split(changed, level === 1 ? nodeRows : nodeEntries));
    });
    const all = level === 1 ? [...edited, ...appended] : edited;
    return all.length === entries.length && all.every((entry, i) => entry === entries[i]) ? entries : all;
  }
}

/** Splits entries that are more than a node has; a tenth of a node is left for more. Nothing is ever merged. */
const split = (entries: readonly Entry[], most: number) =>
  entries.length <= most ? [entries] : cut(entries, Math.ceil(0.9 * most));

/** Rows after edits; the same array if nothing differs. */
function mergeRows(rows: readonly Entry[], edits: readonly RowEdit[]): readonly Entry[] {
  const merged = new Map(rows.map((row) => [row.start, row]));
  for (const { sk, bucket } of edits) {
    if (bucket === undefined) merged.delete(sk);
    else merged.set(sk, rowEntry(sk, bucket));
  }
  const sorted = [...merged.values()].sort((a, b) => (a.start < b.start ? -1 : 1));
  return isDeepStrictEqual(sorted, rows) ? rows : sorted;
}
