import type { CountedRange } from "./counted-range.ts";
import { type Segment, walk } from "./range.ts";
import type { Call } from "./read-budget.ts";
import { readTail } from "./tail.ts";
import { countRows } from "./tree/cells.ts";
import { keyAt } from "./tree/counted-list.ts";
import { countEntries, type Entry } from "./tree/entry.ts";
import type { Root } from "./tree/root.ts";
import { matcher } from "./tree/statuses.ts";
import { indexedAge, limits } from "./tree/tree-limits.ts";
import { readRoot } from "./tree/tree-store.ts";

/** What every list reads first. */
export interface ListStart {
  /** The newest rows. */
  readonly newest: Segment;
  /** The sort keys of the rows that are not counted, newest first. */
  readonly tail: readonly string[];
  /** Where the tail ends; empty if it has all rows. */
  readonly watermark: string;
  /** The tree with the other rows; without it, the tail has all rows. */
  readonly counted: CountedRows | undefined;
  /** The number of rows. */
  readonly total: number;
}

/** The rows of a list that its tree counts. */
export interface CountedRows {
  readonly root: Root;
  /** The number of rows of the list in an entry. */
  readonly count: (entry: Entry) => number;
  /** The number of rows before the end of the tail. */
  readonly rows: number;
}

/**
 * Reads the root of a list's tree and the list's tail: all of its rows if it has no tree that can count them. For a window
 * that ends before the watermark, neither the newest rows nor the tail are read.
 */
export async function readStart(list: CountedRange, maxRows: number, call: Call): Promise<ListStart> {
  const { range, tree, status, window } = list;
  const settledBefore = settledKey(list);
  const end = isSettled(list) ? window?.before : undefined;
  const [root, early] = await Promise.all([
    call((options) => readRoot(tree, "root", options)),
    end === undefined ? walk(range, { maxRows }, call) : undefined,
  ]);
  const matches = root && root.pending.length === 0 ? matcher(root.statuses, status) : undefined;
  const counted = root && matches && countTree(root, matches);
  if (counted && end !== undefined && end < root.watermark)
    return {
      newest: { items: [], done: false },
      tail: [],
      watermark: root.watermark,
      counted,
      total: counted.rows,
    };
  const newest = early ?? (await walk(range, { maxRows }, call));
  // Without a tree, nothing of the whole list is counted yet.
  const isTail = newest.done || (!matches && (root !== undefined || tree.sublist !== undefined));
  if (isTail || !counted) {
    const bounds = { watermark: "", settledBefore: isTail ? "" : settledBefore };
    const tail = await readTail(range, { ...bounds, newest }, call);
    return { newest, tail, watermark: "", counted: undefined, total: tail.length };
  }
  const { watermark, overdue } = counted.root;
  const remembered = overdue ? "" : settledBefore;
  const tail = await readTail(range, { watermark, settledBefore: remembered, newest }, call);
  return { newest, tail, watermark, counted, total: tail.length + counted.rows };
}

/** Whether no route creates rows in the list's window any more. A window that ends later seldom ends before the watermark. */
export const isSettled = (list: CountedRange) =>
  list.window?.before !== undefined && list.window.before < settledKey(list);

/** The sort key before which no route creates rows any more that the list could miss. */
const settledKey = (list: CountedRange) => keyAt(list.tree.list, Date.now() - lateness(list));

function countTree(root: Root, matches: (cell: number) => boolean): CountedRows {
  const count = ({ cells }: Entry) => countRows(cells, matches);
  return { root, count, rows: countEntries([...root.entries, root.last], count) };
}

/**
 * How old a row of the tail is when it is remembered, in milliseconds. In a sublist, the watermark passes a row that is
 * changed at `indexedAge` or later; what was changed before that is in the index at twice that age.
 */
function lateness({ range, tree }: CountedRange): number {
  if (tree.sublist) return 2 * indexedAge(limits);
  return range.index ? limits.indexLateness : limits.allowedLateness;
}
