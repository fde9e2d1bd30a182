import type { CountedOwner } from "../tree/counted-list.ts";
import { countEntries, type Entry, indexAt } from "../tree/entry.ts";
import type { Root } from "../tree/root.ts";
import { readNode } from "../tree/tree-store.ts";
import type { Call } from "./read-budget.ts";

/** A tree that is read. */
export interface TreeReading {
  readonly tree: CountedOwner;
  readonly root: Root;
  /** The cell whose rows count; without it, all rows. */
  readonly cell: number | undefined;
  readonly call: Call;
  /** The nodes that have been read, by level and start: each is read once. */
  readonly nodes: Map<string, Promise<readonly Entry[] | undefined>>;
}

/** Thrown when a node differs from the root that was read before it: the tree has changed, or it is damaged. */
export class UnfitNodeError extends Error {
  override readonly name = "UnfitNodeError";
  /** The version of the root. */
  readonly version: number;

  constructor(message: string, { version }: Root) {
    super(message);
    this.version = version;
  }
}

/** The position of a row: a number of rows before a sort key. */
export interface Place {
  readonly before: string;
  readonly skip: number;
}

/**
 * Finds the row of a rank, which counts from the oldest row, so that new rows do not change it.
 *
 * @param skips whether rows may be skipped: small ones cost less than the trip to the node with their sort keys
 * @throws UnfitNodeError when the tree has changed
 */
export async function findRow(reading: TreeReading, rank: number, skips: boolean): Promise<Place> {
  const { root, cell } = reading;
  let { entries, lastStart: end } = root;
  let left = rank;
  for (let level = root.level; ; level--) {
    const { entry, next, before } = findEntry(entries, cell, left);
    left -= before;
    end = next?.start ?? end;
    // No other sort key lies between.
    if (level === 0) return { before: `${entry.start}!`, skip: 0 };
    if (level === 1 && skips) return { before: end, skip: countEntries([entry], cell) - 1 - left };
    entries = await readBelow(reading, level, entry);
  }
}

/**
 * The number of rows in nodes before a sort key, or before any text, such as one that `keyAt` returns for a time.
 *
 * @throws UnfitNodeError when the tree has changed
 */
export async function findRank(reading: TreeReading, sk: string): Promise<number> {
  const { root, cell } = reading;
  let { entries } = root;
  let rank = 0;
  for (let level = root.level; level > 0; level--) {
    const index = indexAt(entries, sk);
    rank += countEntries(entries.slice(0, index), cell);
    entries = await readBelow(reading, level, entries[index] as Entry);
  }
  return rank + countEntries(entries.slice(0, entries.findLastIndex(({ start }) => start < sk) + 1), cell);
}

async function readBelow(
  { tree, root, call, nodes }: TreeReading,
  level: number,
  entry: Entry,
): Promise<readonly Entry[]> {
  const name = `${level} ${entry.start}`;
  const reading = nodes.get(name) ?? call((options) => readNode(tree, root, level, entry, options));
  nodes.set(name, reading);
  const node = await reading;
  if (!node)
    throw new UnfitNodeError(
      `The node ${entry.start} of level ${level} is missing, or its sums differ.`,
      root,
    );
  return node;
}

/** The entry with the row of a rank, with the entry after it and the number of rows before it. */
function findEntry(entries: readonly Entry[], cell: number | undefined, rank: number) {
  let before = 0;
  for (const [index, entry] of entries.entries()) {
    const rows = countEntries([entry], cell);
    if (rank < before + rows) return { entry, next: entries[index + 1], before };
    before += rows;
  }
  throw new Error("A node of a counted tree has fewer rows than its entry says.");
}
