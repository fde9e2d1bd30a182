import type { CountedRange } from "./counted-range.ts";
import { type Segment, walk } from "./range.ts";
import type { Call } from "./read-budget.ts";
import { readTail } from "./tail.ts";
import { countRows } from "./tree/cells.ts";
import { keyAt } from "./tree/counted-list.ts";
import type { Entry } from "./tree/entry.ts";
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
  /** The root of the tree with the other rows, and the number of rows of the list in an entry. */
  readonly counted: { readonly root: Root; readonly count: (entry: Entry) => number } | undefined;
}

/** Reads the root of a list's tree and the list's tail: all of its rows if it has no tree that can count them. */
export async function readStart(list: CountedRange, maxRows: number, call: Call): Promise<ListStart> {
  const { range, tree, status } = list;
  const settledBefore = keyAt(tree.list, Date.now() - lateness(list));
  const [root, newest] = await Promise.all([
    call((options) => readRoot(tree, "root", options)),
    walk(range, { maxRows }, call),
  ]);
  const matches = root && root.pending.length === 0 ? matcher(root.statuses, status) : undefined;
  // Without a tree, nothing of the whole list is counted yet.
  const isTail = newest.done || (!matches && (root !== undefined || tree.sublist !== undefined));
  if (isTail || !root || !matches) {
    const bounds = { watermark: "", settledBefore: isTail ? "" : settledBefore };
    return {
      newest,
      tail: await readTail(range, { ...bounds, newest }, call),
      watermark: "",
      counted: undefined,
    };
  }
  const { watermark } = root;
  const remembered = root.overdue ? "" : settledBefore;
  const tail = await readTail(range, { watermark, settledBefore: remembered, newest }, call);
  return { newest, tail, watermark, counted: { root, count: ({ cells }) => countRows(cells, matches) } };
}

/**
 * How old a row of the tail is when it is remembered, in milliseconds. In a sublist, the watermark passes a row that is
 * changed at `indexedAge` or later; what was changed before that is in the index at twice that age.
 */
function lateness({ range, tree }: CountedRange): number {
  if (tree.sublist) return 2 * indexedAge(limits);
  return range.index ? limits.indexLateness : limits.allowedLateness;
}
