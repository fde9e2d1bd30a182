import { whileChanged } from "./counted-page.ts";
import type { CountedRange } from "./counted-range.ts";
import { isSum } from "./find-row.ts";
import { type Group, groupRange, groupTree, readGroupStart } from "./group-start.ts";
import { type ListStart, readStart } from "./list-start.ts";
import { rangeId, walk } from "./range.ts";
import { type AdmitLongList, type Call, withinBudget } from "./read-budget.ts";
import { countRows } from "./tree/cells.ts";
import type { Entry } from "./tree/entry.ts";
import { limits } from "./tree/tree-limits.ts";
import { readNode } from "./tree/tree-store.ts";

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

/** A list, and an attempt to read it. */
interface Attempt extends CountedRange {
  readonly call: Call;
  /** Whether to continue although the tree changes. */
  readonly lastAttempt: boolean;
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
  { tree, range, call, lastAttempt }: Attempt,
  { root, count }: NonNullable<ListStart["counted"]>,
  sortKey: string,
): Promise<number | "changed"> {
  const sum = (entries: readonly Entry[]) => entries.reduce((rows, entry) => rows + count(entry), 0);
  let entries: readonly Entry[] = [...root.entries, root.last];
  let rank = 0;
  for (let level = root.level; ; level--) {
    const after = entries.findIndex(({ start }) => start >= sortKey);
    const before = after < 0 ? entries : entries.slice(0, after);
    const entry = before.at(-1);
    rank += sum(before.slice(0, -1));
    if (!entry) return rank;
    if (sortKey >= root.watermark && entry === root.last) return rank + count(entry);
    if (level === 0 || entry === root.last) {
      // A row is counted or not; of a leaf, some rows come before the key.
      if (tree.sublist) return rank + count(entry);
      const bounds = { before: sortKey, downTo: entry.start, keysOnly: true };
      return rank + (await walk(range, { ...bounds, maxRows: Number.POSITIVE_INFINITY }, call)).items.length;
    }
    const node = await call((options) => readNode(tree, root.generation, level, entry.start, options));
    if (!node || (!isSum(entry, node) && !lastAttempt)) return "changed";
    entries = node;
  }
}
