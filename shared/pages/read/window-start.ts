import { latest } from "../tree/counted-list.ts";
import type { CountedRange } from "./counted-range.ts";
import { findRank, type TreeReading } from "./find-row.ts";
import type { ListStart } from "./list-start.ts";
import { type Segment, walk } from "./range.ts";
import type { Call } from "./read-budget.ts";
import { isWithin, type Window } from "./window.ts";

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
