import type { ListStart } from "./list-start.ts";
import type { Call } from "./read-budget.ts";
import { equalCells, sumCells } from "./tree/cells.ts";
import type { CountedOwner } from "./tree/counted-list.ts";
import type { Entry } from "./tree/entry.ts";
import type { Root } from "./tree/root.ts";
import { readNode } from "./tree/tree-store.ts";

/** How a tree is read. */
export interface TreeReading {
  readonly tree: CountedOwner;
  readonly call: Call;
  /** Whether to continue although nodes and their sums disagree. */
  readonly lastAttempt: boolean;
}

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
  { root, count }: NonNullable<ListStart["counted"]>,
  rank: number,
): Promise<Place | undefined> {
  let entries: readonly Entry[] = [...root.entries, root.last];
  let end = root.watermark;
  let left = rank;
  // A node of rows has so few that reading them costs less than the trip to the node.
  const lowest = reading.tree.sublist ? Math.min(1, root.level) : 0;
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

/** The node of an entry. @returns undefined when the tree has changed: there is no node, or the entry is not its sum */
export async function readBelow(
  { tree, call, lastAttempt }: TreeReading,
  { generation }: Root,
  level: number,
  entry: Entry,
): Promise<readonly Entry[] | undefined> {
  const node = await call((options) => readNode(tree, generation, level, entry.start, options));
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
