import type { CountedRange } from "./counted-range.ts";
import type { CountedRows } from "./list-start.ts";
import type { Call } from "./read-budget.ts";
import { equalCells, sumCells } from "./tree/cells.ts";
import type { CountedOwner } from "./tree/counted-list.ts";
import { countEntries, type Entry } from "./tree/entry.ts";
import type { Root } from "./tree/root.ts";
import { readNode } from "./tree/tree-store.ts";

/** How a tree is read. */
export interface TreeReading {
  readonly tree: CountedOwner;
  readonly call: Call;
  /** Whether to continue although nodes and their sums disagree. */
  readonly lastAttempt: boolean;
  /** The nodes that this attempt has read, by level and start: each is read once. */
  readonly nodes: Map<string, Promise<readonly Entry[] | undefined>>;
}

/** A list, and an attempt to read it. */
export interface Attempt extends CountedRange, TreeReading {}

type CountedTree = Pick<CountedRows, "root" | "count">;

/** The position of a row: a number of rows before a sort key. */
export interface Place {
  readonly before: string;
  readonly skip: number;
}

/**
 * Finds the row of a rank, which counts from the oldest row, so that new rows do not change it.
 *
 * @returns undefined when the tree has changed
 */
export async function findRow(
  reading: TreeReading,
  { root, count }: CountedTree,
  rank: number,
): Promise<Place | undefined> {
  let entries: readonly Entry[] = [...root.entries, root.last];
  let end = root.watermark;
  let left = rank;
  const lowest = aboveRows(reading, root);
  for (let level = root.level; ; level--) {
    const { entry, next, before } = findEntry(entries, count, left);
    left -= before;
    end = next?.start ?? end;
    if (level === lowest || entry === root.last)
      return { before: end, skip: Math.max(0, count(entry) - 1 - left) };
    const node = await readBelow(reading, root, level, entry);
    if (!node) return undefined;
    entries = node;
  }
}

/** The level above the nodes of rows: a node has so few that reading the rows costs less than the trip to the node. */
export const aboveRows = ({ tree }: TreeReading, { level }: Root) => (tree.sublist ? Math.min(1, level) : 0);

/** Where a sort key lies in a tree: among the rows of a leaf or a node, or between two rows of a sublist. */
export interface KeyPlace {
  /** The sort keys between which the leaf or the node has its rows; between two rows, both are the key. */
  readonly start: string;
  readonly end: string;
  /** The number of rows before `start`, and before `end`. */
  readonly rank: number;
  readonly endRank: number;
}

/**
 * Finds the place of a sort key before the watermark: the reverse of `findRow`.
 *
 * @param sortKey any text, such as one that `keyAt` returns for a time
 * @param lowest the level at which to stop
 * @returns undefined when the tree has changed
 */
export async function findKey(
  reading: TreeReading,
  { root, count }: CountedTree,
  sortKey: string,
  lowest = 0,
): Promise<KeyPlace | undefined> {
  let entries: readonly Entry[] = [...root.entries, root.last];
  let end = root.watermark;
  let rank = 0;
  for (let level = root.level; ; level--) {
    const index = entries.findLastIndex(({ start }) => start < sortKey);
    const entry = entries[index];
    if (!entry) return { start: sortKey, end: sortKey, rank, endRank: rank };
    rank += countEntries(entries.slice(0, index), count);
    end = entries[index + 1]?.start ?? end;
    if (level === lowest || entry === root.last) {
      const endRank = rank + count(entry);
      const isRow = reading.tree.sublist && (level === 0 || entry === root.last);
      return isRow
        ? { start: sortKey, end: sortKey, rank: endRank, endRank }
        : { start: entry.start, end, rank, endRank };
    }
    const node = await readBelow(reading, root, level, entry);
    if (!node) return undefined;
    entries = node;
  }
}

/** The node of an entry. @returns undefined when the tree has changed: there is no node, or the entry is not its sum */
export async function readBelow(
  { tree, call, lastAttempt, nodes }: TreeReading,
  { generation }: Root,
  level: number,
  entry: Entry,
): Promise<readonly Entry[] | undefined> {
  const name = `${level} ${entry.start}`;
  const reading =
    nodes.get(name) ?? call((options) => readNode(tree, generation, level, entry.start, options));
  nodes.set(name, reading);
  const node = await reading;
  return node && (lastAttempt || isSum(entry, node)) ? node : undefined;
}

/** Whether an entry is the sum of its node. */
export const isSum = ({ cells }: Entry, node: readonly Entry[]) =>
  equalCells(sumCells(node.map((below) => below.cells)), cells);

/** The entry with the row of a rank, or the last one, with the entry after it and the number of rows before it. */
function findEntry(entries: readonly Entry[], count: (entry: Entry) => number, rank: number) {
  let before = 0;
  for (const [index, entry] of entries.entries()) {
    const rows = count(entry);
    const next = entries[index + 1];
    if (rank < before + rows || !next) return { entry, next, before };
    before += rows;
  }
  throw new Error("A node of a counted tree has no entries.");
}
