import type { CountedOwner } from "../tree/counted-list.ts";
import { countEntries, type Entry, placeAt } from "../tree/entry.ts";
import type { Root } from "../tree/root.ts";
import { readNode } from "../tree/tree-store.ts";
import type { Call } from "./read-budget.ts";

/**
 * Finds rows in the nodes of a tree, and reads each node once.
 *
 * @param bucket the bucket whose rows count; without it, all rows count
 * @returns functions that throw the errors of `readNode`
 */
export function rowFinder(tree: CountedOwner, root: Root, bucket: number | undefined, call: Call) {
  const nodes = new Map<string, Promise<readonly Entry[]>>();
  /**
   * Descends to a row: the last one that is not past what is looked for, or the first one.
   *
   * @returns its entry, and its rank: the number of rows before it
   */
  const descend = async (isPast: (start: string, rank: number) => boolean) => {
    let { entries, bufferStart: end } = root;
    let rank = 0;
    for (let level = root.level; ; level--) {
      let [index, next] = [0, rank];
      for (const [i, entry] of entries.entries()) {
        if (i > 0 && isPast(entry.start, next)) break;
        [index, rank] = [i, next];
        next += countEntries([entry], bucket);
      }
      const place = placeAt(entries, index, end);
      if (level === 0) return { entry: place.entry, rank };
      end = place.end;
      const name = `${level} ${place.entry.start}`;
      const reading = nodes.get(name) ?? readNode(tree, root, level, place, call);
      nodes.set(name, reading);
      entries = await reading;
    }
  };
  return {
    /**
     * Finds the row of a rank. Ranks count from the oldest row, so that new rows do not change them.
     *
     * @returns a sort key right after that of the row: no other one lies between them
     */
    findRow: async (rank: number) => {
      const { entry } = await descend((_, at) => at > rank);
      return `${entry.start}!`;
    },
    /** The number of rows in nodes before a sort key, or before any text, such as one that `keyAt` returns for a time. */
    findRank: async (sk: string) => {
      const { entry, rank } = await descend((start) => start > sk);
      // A node of rows can be empty.
      const isBefore = entry !== undefined && entry.start < sk;
      return isBefore ? rank + countEntries([entry], bucket) : rank;
    },
  };
}
