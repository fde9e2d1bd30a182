import { cellOf, keyAt } from "../tree/counted-list.ts";
import { countEntries } from "../tree/entry.ts";
import type { Root } from "../tree/root.ts";
import { limits } from "../tree/tree-limits.ts";
import { readRoot } from "../tree/tree-store.ts";
import type { CountedRange } from "./counted-range.ts";
import { type Segment, walk } from "./range.ts";
import type { Call } from "./read-budget.ts";
import { readTail } from "./tail.ts";

/** What every list reads first. */
export interface ListStart {
  /** The newest rows; of a window that ended some time ago, those of the window. */
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
export interface CountedRows {
  readonly root: Root;
  readonly cell: number | undefined;
  /** The number of rows before the end. */
  readonly rows: number;
}

/**
 * Reads the root of a list's tree, the newest rows and the sort keys of the tail: all of its rows without a tree. The total
 * of every list is computed here. A window that ends before the tail needs neither.
 *
 * @param ofWindow the newest rows of a window that ended some time ago
 */
export async function readStart(
  list: CountedRange,
  { maxRows, ofWindow }: { readonly maxRows: number; readonly ofWindow: Promise<Segment> | undefined },
  call: Call,
): Promise<ListStart> {
  const { range, tree, status, window } = list;
  const isEarlier = isSettled(list);
  const [root, early, windowRows = unread] = await Promise.all([
    call((options) => readRoot(tree, options)),
    isEarlier ? undefined : walk(range, { maxRows }, call),
    ofWindow,
  ]);
  const { watermark = "", lastStart = "", last = [], entries = [] } = root ?? {};
  const cell = status === undefined ? undefined : cellOf(tree.list, status);
  const rows = countEntries(entries, cell);
  const counted = root && rows > 0 ? { root, cell, rows } : undefined;
  const lastKeys = last.filter((row) => countEntries([row], cell) > 0).map(({ start }) => start);
  const known = (newest: Segment, tail: readonly string[]): ListStart => {
    const keys = [...tail, ...lastKeys.toReversed()];
    return { newest, keys, end: lastStart, counted, total: keys.length + rows };
  };
  if (isEarlier && (window?.before ?? "") <= watermark) return known(windowRows, []);
  const newest = early ?? (await walk(range, { maxRows }, call));
  if (newest.done) {
    const keys = newest.items.map(({ sk }) => String(sk));
    return { newest, keys, end: "", counted: undefined, total: keys.length };
  }
  return known(newest, await readTail(range, { watermark, newest, memory: memoryOf(list, root) }, call));
}

const unread: Segment = { items: [], done: false };

/** Whether no route creates rows in the list's window any more. A window that ends later seldom ends before the watermark. */
export const isSettled = (list: CountedRange) =>
  list.window?.before !== undefined && list.window.before < settledKey(list);

/** The sort key before which no route creates rows any more. */
const settledKey = ({ tree }: CountedRange) => keyAt(tree.list, Date.now() - limits.allowedLateness);

/**
 * How the tail is remembered: only that of a whole list, because an index may be late, and until one of its rows is changed.
 * Without a root, nothing would tell of changes.
 */
const memoryOf = (list: CountedRange, root: Root | undefined) =>
  root && list.range.index === undefined
    ? { until: settledKey(list), version: `${root.generation} ${root.changedAt}` }
    : undefined;
