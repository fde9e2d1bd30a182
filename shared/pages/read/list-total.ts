import { cellOf, earliest, keyAt, latest } from "../tree/counted-list.ts";
import { countEntries } from "../tree/entry.ts";
import type { Root } from "../tree/root.ts";
import { limits } from "../tree/tree-limits.ts";
import { readRoot } from "../tree/tree-store.ts";
import type { CountedRange } from "./counted-range.ts";
import { findRank, type TreeReading } from "./find-row.ts";
import { type Segment, walk } from "./range.ts";
import type { Call } from "./read-budget.ts";
import { readTail } from "./tail.ts";
import { isWithin } from "./window.ts";

/** What every list reads first. */
export interface ListStart {
  /** The newest rows. */
  readonly newest: Segment;
  /** The sort keys of the newest rows, newest first: those of the tail, and of the newest rows in the root. */
  readonly keys: readonly string[];
  /** Where these end; empty if they are all rows. */
  readonly end: string;
  /** The nodes with the other rows; undefined if there are none. */
  readonly counted: CountedRows | undefined;
  /** The number of rows. */
  readonly total: number;
}

/** The rows of a list that are in the nodes of its tree. */
export interface CountedRows extends TreeReading {
  /** The number of rows before the end, also those before the list's window. */
  readonly rows: number;
}

/**
 * Reads the root of a list's tree, the newest rows and the sort keys of the tail: all of its rows without a tree. The total
 * of every list is computed here: that of a window from the ranks of its ends.
 *
 * @param maxRows how many of the newest rows; 0 if the page does not need them
 * @throws TreeChangedError when the tree has changed
 * @throws DamagedTreeError when a node is missing or differs from its sums
 */
export async function readStart(list: CountedRange, maxRows: number, call: Call): Promise<ListStart> {
  const { range, tree, status, window } = list;
  const { from = "", before } = window;
  const [root, newest] = await Promise.all([
    call((options) => readRoot(tree, options)),
    maxRows > 0 ? walk(range, { before, downTo: from, maxRows }, call) : { items: [], done: false },
  ]);
  if (newest.done) {
    const keys = newest.items.map(({ sk }) => String(sk));
    return { newest, keys, end: "", counted: undefined, total: keys.length };
  }
  const { watermark = "", lastStart = "", last = [], entries = [] } = root ?? {};
  const tail = { watermark: latest(watermark, from), before, newest, memory: memoryOf(list, root) };
  const tailKeys = await readTail(range, tail, call);
  const cell = status === undefined ? undefined : cellOf(tree.list, status);
  const lastKeys = last.filter((row) => countEntries([row], cell) > 0).map(({ start }) => start);
  const keys = [...tailKeys, ...lastKeys.filter(isWithin(window)).toReversed()];
  const end = latest(earliest(before ?? lastStart, lastStart), from);
  if (!root || countEntries(entries, cell) === 0 || from >= lastStart)
    return { newest, keys, end, counted: undefined, total: keys.length };
  const reading = { tree, root, cell, call, nodes: new Map() };
  const [skipped, rows] = await Promise.all([
    from === "" ? 0 : findRank(reading, from),
    end === lastStart ? countEntries(entries, cell) : findRank(reading, end),
  ]);
  return {
    newest,
    keys,
    end,
    counted: { ...reading, rows },
    total: keys.length + Math.max(0, rows - skipped),
  };
}

/**
 * How the tail is remembered: only that of a whole list, because an index may be late, not that of a window, and until one of
 * its rows is changed. Without a root, nothing would tell of changes.
 */
const memoryOf = ({ range, tree, window }: CountedRange, root: Root | undefined) =>
  root && range.index === undefined && window.from === undefined && window.before === undefined
    ? {
        // No route creates a row before this sort key any more.
        until: keyAt(tree.list, Date.now() - limits.allowedLateness),
        version: `${root.generation} ${root.changedAt}`,
      }
    : undefined;
