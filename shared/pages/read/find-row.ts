import type { CountedOwner } from "../tree/counted-list.ts";
import { countEntries, type Entry, indexAt, type Place, placeAt } from "../tree/entry.ts";
import type { Root } from "../tree/root.ts";
import { readNode } from "../tree/tree-store.ts";
import type { Call } from "./read-budget.ts";

/** A tree that is read. */
export interface TreeReading {
  readonly tree: CountedOwner;
  readonly root: Root;
  /** The bucket whose rows count; without it, all rows. */
  readonly bucket: number | undefined;
  readonly call: Call;
  /** The nodes that have been read, by level and start: each is read once. */
  readonly nodes: Map<string, Promise<readonly Entry[]>>;
}

/**
 * Finds the row of a rank, which counts from the oldest row, so that new rows do not change it.
 *
 * @param skips whether rows may be skipped: small ones cost less than the trip to the node with their sort keys
 * @returns its position: so many rows before a sort key
 * @throws TreeChangedError when the tree has changed
 * @throws DamagedTreeError when a node is missing or differs from its sums
 */
export async function findRow(reading: TreeReading, rank: number, skips: boolean) {
  const { root, bucket } = reading;
  let { entries, bufferStart: end } = root;
  let left = rank;
  for (let level = root.level; ; level--) {
    const { index, before } = findIndex(entries, bucket, left);
    const place = placeAt(entries, index, end);
    const { entry } = place;
    left -= before;
    end = place.end;
    // No other sort key lies between.
    if (level === 0) return { before: `${entry.start}!`, skip: 0 };
    if (level === 1 && skips) return { before: end, skip: countEntries([entry], bucket) - 1 - left };
    entries = await readBelow(reading, level, place);
  }
}

/**
 * The number of rows in nodes before a sort key, or before any text, such as one that `keyAt` returns for a time.
 *
 * @throws TreeChangedError when the tree has changed
 * @throws DamagedTreeError when a node is missing or differs from its sums
 */
export async function findRank(reading: TreeReading, sk: string): Promise<number> {
  const { root, bucket } = reading;
  let { entries, bufferStart: end } = root;
  let rank = 0;
  for (let level = root.level; level > 0; level--) {
    const index = indexAt(entries, sk);
    rank += countEntries(entries.slice(0, index), bucket);
    const place = placeAt(entries, index, end);
    end = place.end;
    entries = await readBelow(reading, level, place);
  }
  return rank + countEntries(entries.slice(0, entries.findLastIndex(({ start }) => start < sk) + 1), bucket);
}

function readBelow({ tree, root, call, nodes }: TreeReading, level: number, place: Place) {
  const name = `${level} ${place.entry.start}`;
  const reading = nodes.get(name) ?? readNode(tree, root, level, place, call);
  nodes.set(name, reading);
  return reading;
}

/** The entry with the row of a rank, which they have, and the number of rows before it. */
function findIndex(entries: readonly Entry[], bucket: number | undefined, rank: number) {
  let before = 0;
  let index = 0;
  for (; index < entries.length - 1; index++) {
    const rows = countEntries(entries.slice(index, index + 1), bucket);
    if (rank < before + rows) break;
    before += rows;
  }
  return { index, before };
}
