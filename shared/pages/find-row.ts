import type { Call } from "./read-budget.ts";
import { equalCells, sumCells } from "./tree/cells.ts";
import type { Entry } from "./tree/entry.ts";
import type { Root } from "./tree/root.ts";
import { type CountedOwner, readNode } from "./tree/tree-store.ts";

/** How a tree is read. */
interface Reading {
  readonly owner: CountedOwner;
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
  { owner, call, lastAttempt }: Reading,
  root: Root,
  count: (entry: Entry) => number,
  rank: number,
): Promise<Place | undefined> {
  let entries: readonly Entry[] = [...root.entries, root.last];
  let end = root.watermark;
  let left = rank;
  for (let level = root.level; ; level--) {
    const { entry, next, before } = findEntry(entries, count, left);
    left -= before;
    end = next?.start ?? end;
    if (level === 0 || entry === root.last)
      return { before: end, skip: Math.max(0, count(entry) - 1 - left) };
    const node = await call((options) => readNode(owner, root.generation, level, entry.start, options));
    const same = node && equalCells(sumCells(node.map(({ cells }) => cells)), entry.cells);
    if (!node || (!same && !lastAttempt)) return undefined;
    entries = node;
  }
}

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
