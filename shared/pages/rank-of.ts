import { type Attempt, whileChanged } from "./counted-page.ts";
import type { CountedRange } from "./counted-range.ts";
import { readBelow } from "./find-row.ts";
import { type Group, groupRange, groupTree, readGroupStart } from "./group-start.ts";
import { type ListStart, readStart } from "./list-start.ts";
import { rangeId, walk } from "./range.ts";
import { type AdmitLongList, withinBudget } from "./read-budget.ts";
import { countRows } from "./tree/cells.ts";
import { countEntries, type Entry } from "./tree/entry.ts";
import { limits } from "./tree/tree-limits.ts";

/**
 * The number of rows of a list with an earlier sort key: the reverse of finding the row of a rank, at the cost of a page,
 * and as exact as a total.
 *
 * @param sortKey any text: that of a row, or one that `keyAt` returns for a time
 * @throws TooExpensiveError when it would need too many calls or too much time
 */
export function rankOf(list: CountedRange, sortKey: string, admitLongList?: AdmitLongList): Promise<number> {
  return withinBudget(rangeId(list.range), admitLongList, (call) =>
    whileChanged((lastAttempt) => findRank({ ...list, call, lastAttempt }, sortKey)),
  );
}

/** The same for the filtered conversations of a lead. */
export function rankInGroup(group: Group, sortKey: string, admitLongList?: AdmitLongList): Promise<number> {
  return withinBudget(rangeId(group.owner.sublist), admitLongList, (call) =>
    whileChanged(async (lastAttempt) => {
      const start = await readGroupStart({ ...group, call });
      if (start === "changed") return start;
      const inTail = start.tail.filter(({ sk }) => String(sk) < sortKey).length;
      if (!start.counted) return inTail;
      const attempt = { tree: groupTree(group), range: groupRange(group), call, lastAttempt };
      const count = ({ cells }: Entry) => countRows(cells);
      const inTree = await rankInTree(attempt, { root: start.counted.root, count }, sortKey);
      return inTree === "changed" ? inTree : inTree + inTail;
    }),
  );
}

async function findRank(attempt: Attempt, sortKey: string): Promise<number | "changed"> {
  const { tail, counted } = await readStart(attempt, limits.tail + 1, attempt.call);
  const inTail = tail.filter((sk) => sk < sortKey).length;
  if (!counted) return inTail;
  const inTree = await rankInTree(attempt, counted, sortKey);
  return inTree === "changed" ? inTree : inTree + inTail;
}

/** The number of counted rows before a sort key. */
async function rankInTree(
  attempt: Attempt,
  { root, count }: NonNullable<ListStart["counted"]>,
  sortKey: string,
): Promise<number | "changed"> {
  const { tree, range, call } = attempt;
  let entries: readonly Entry[] = [...root.entries, root.last];
  let rank = 0;
  for (let level = root.level; ; level--) {
    const after = entries.findIndex(({ start }) => start >= sortKey);
    const before = after < 0 ? entries : entries.slice(0, after);
    const entry = before.at(-1);
    rank += countEntries(before.slice(0, -1), count);
    if (!entry) return rank;
    if (sortKey >= root.watermark && entry === root.last) return rank + count(entry);
    if (level === 0 || entry === root.last) {
      // A row is counted or not; of a leaf, some rows come before the key.
      if (tree.sublist) return rank + count(entry);
      const bounds = { before: sortKey, downTo: entry.start, keysOnly: true };
      return rank + (await walk(range, { ...bounds, maxRows: Number.POSITIVE_INFINITY }, call)).items.length;
    }
    const node = await readBelow(attempt, root, level, entry);
    if (!node) return "changed";
    entries = node;
  }
}
