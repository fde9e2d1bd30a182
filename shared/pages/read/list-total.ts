import { bucketOf, earliest, latest } from "../tree/counted-list.ts";
import { countEntries } from "../tree/entry.ts";
import type { Root } from "../tree/root.ts";
import { readRoot } from "../tree/tree-store.ts";
import type { CountedRange } from "./choose-index.ts";
import { findRank, type TreeReading } from "./find-row.ts";
import { readSegments, type Segment, walk } from "./range.ts";
import type { Call } from "./read-budget.ts";
import { isWithin } from "./window.ts";

/** The total of a list, and what was read for it. */
export interface ListTotal {
  /** The number of rows. */
  readonly total: number;
  /** The newest rows. */
  readonly newest: Segment;
  /** The sort keys of the newest rows, newest first: those of the tail, and of the write buffer. */
  readonly keys: readonly string[];
  /** Where these end; empty if they are all rows. */
  readonly end: string;
  /** The nodes with the other rows; undefined if there are none. */
  readonly counted: CountedRows | undefined;
}

/** The rows of a list that are in the nodes of its tree. */
interface CountedRows extends TreeReading {
  /** The number of rows before the end, also those before the list's window. */
  readonly rows: number;
}

/**
 * Finds the total of a list, with any filter that a tree has: reads the root of its tree, the newest rows and the sort keys
 * of the tail, which are all of its rows without a tree. The total of a window is found from the ranks of its ends.
 *
 * @param maxRows how many of the newest rows; 0 if the page does not need them
 * @throws TreeChangedError when the tree has changed
 * @throws DamagedTreeError when a node is missing or differs from its sums
 */
export async function readTotal(list: CountedRange, maxRows: number, call: Call): Promise<ListTotal> {
  const { range, tree, status, window } = list;
  const { from = "", before } = window;
  const [root, newest] = await Promise.all([
    call((options) => readRoot(tree, options)),
    maxRows > 0 ? walk(range, { before, downTo: from, maxRows }, call) : { items: [], done: false },
  ]);
  if (newest.done) {
    const keys = toSortKeys(newest);
    return { total: keys.length, newest, keys, end: "", counted: undefined };
  }
  const bucket = status === undefined ? undefined : bucketOf(tree.list, status);
  const { keys, end } = await readNewKeys(list, { root, newest, bucket }, call);
  const { entries = [], bufferStart = "" } = root ?? {};
  if (!root || countEntries(entries, bucket) === 0 || from >= bufferStart)
    return { total: keys.length, newest, keys, end, counted: undefined };
  const reading = { tree, root, bucket, call, nodes: new Map() };
  const [skipped, rows] = await Promise.all([
    from === "" ? 0 : findRank(reading, from),
    end === bufferStart ? countEntries(entries, bucket) : findRank(reading, end),
  ]);
  const total = keys.length + Math.max(0, rows - skipped);
  return { total, newest, keys, end, counted: { ...reading, rows } };
}

/** The sort keys of the rows of the tail and of the newest ones in the root, and where they end. */
async function readNewKeys(
  { range, window }: CountedRange,
  read: { readonly root: Root | undefined; readonly newest: Segment; readonly bucket: number | undefined },
  call: Call,
) {
  const { from = "", before } = window;
  const { root, newest, bucket } = read;
  const { watermark = "", bufferStart = "", buffer = [] } = root ?? {};
  const downTo = latest(watermark, from);
  const newestKeys = toSortKeys(newest);
  const keys = newestKeys.filter((sk) => sk >= downTo);
  const others = { before: newestKeys.at(-1) ?? before, downTo, keysOnly: true };
  for await (const segment of readSegments(range, others, call)) keys.push(...toSortKeys(segment));
  const bufferKeys = buffer.filter((row) => countEntries([row], bucket) > 0).map(({ start }) => start);
  return {
    keys: [...keys, ...bufferKeys.filter(isWithin(window)).toReversed()],
    end: latest(earliest(before ?? bufferStart, bufferStart), from),
  };
}

const toSortKeys = ({ items }: Segment) => items.map(({ sk }) => String(sk));
