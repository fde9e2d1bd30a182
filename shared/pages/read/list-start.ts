import { cellOf, keyAt, latest } from "../tree/counted-list.ts";
import { countEntries } from "../tree/entry.ts";
import type { Root } from "../tree/root.ts";
import { limits } from "../tree/tree-limits.ts";
import { readRoot } from "../tree/tree-store.ts";
import type { CountedRange } from "./counted-range.ts";
import { findRank, type TreeReading } from "./find-row.ts";
import { type Segment, walk } from "./range.ts";
import type { Call } from "./read-budget.ts";
import { readTail } from "./tail.ts";
import { isWithin, type Window } from "./window.ts";

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

/**
 * The part of a list's start that lies in its window. The ranks of the window's ends are its total.
 *
 * @throws TreeChangedError when the tree has changed
 * @throws DamagedTreeError when a node is missing or differs from its sums
 */
export async function narrowStart(
  { tree, window = {}, call, nodes }: CountedRange & Pick<TreeReading, "call" | "nodes">,
  start: ListStart,
): Promise<ListStart> {
  const { from = "", before } = window;
  if (from === "" && before === undefined) return start;
  const newest = newestWithin(start.newest, window);
  const keys = start.keys.filter(isWithin(window));
  if (newest.done) {
    const all = newest.items.map(({ sk }) => String(sk));
    return { newest, keys: all, end: "", counted: undefined, total: all.length };
  }
  const { counted } = start;
  if (!counted || from >= start.end)
    return { newest, keys, end: latest(start.end, from), counted: undefined, total: keys.length };
  const isCut = before !== undefined && before < start.end;
  const reading = { ...counted, tree, call, nodes };
  const [skipped, rows] = await Promise.all([
    from === "" ? 0 : findRank(reading, from),
    isCut ? findRank(reading, before) : counted.rows,
  ]);
  return {
    ...{ newest, keys, end: isCut ? before : start.end },
    counted: { ...counted, rows },
    total: keys.length + Math.max(0, rows - skipped),
  };
}

/** Reads the newest rows of a window. */
export const readNewest = ({ range, window }: CountedRange, maxRows: number, call: Call): Promise<Segment> =>
  walk(range, { before: window?.before, downTo: window?.from, maxRows }, call);

/** The newest rows of a list that lie in a window. */
function newestWithin({ items, done }: Segment, window: Window): Segment {
  const within = isWithin(window);
  const isPast = window.from !== undefined && String(items.at(-1)?.sk ?? "~") < window.from;
  return { items: items.filter(({ sk }) => within(String(sk))), done: done || isPast };
}
