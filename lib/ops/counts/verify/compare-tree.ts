import { type Cells, equalCells, noCells, sumCells } from "../../../../shared/pages/tree/cells.ts";
import {
  type CountedOwner,
  type CountedRow,
  earliest,
  latest,
} from "../../../../shared/pages/tree/counted-list.ts";
import type { Root } from "../../../../shared/pages/tree/root.ts";
import { cellNumber, type Statuses } from "../../../../shared/pages/tree/statuses.ts";
import { readNode } from "../../../../shared/pages/tree/tree-store.ts";
import type { Pace } from "../../common/pace.ts";
import { type Difference, describeDifference } from "./difference.ts";
import { type EntryRange, toRanges } from "./entry-ranges.ts";

/** How often a range is compared again from the root when the tree changes during the comparison. */
const attempts = 3;

/** How many leaves are read at once. */
const parallelLeaves = 8;

/** A range of sort keys to compare; with a level, only that level of the tree is compared. */
export interface KeyRange {
  readonly start: string;
  readonly end: string | undefined;
  readonly level?: number;
}

/** A tree, and the rows that it should count. */
export interface Compared {
  readonly owner: CountedOwner;
  readonly pace: Pace;
  readonly readRoot: () => Promise<Root | undefined>;
  /** The rows of the range of an entry, as they are in the table, part by part. */
  readonly readRows: (entry: EntryRange) => AsyncIterable<readonly CountedRow[]>;
}

/** Traverses a tree from its current root to every leaf of the range, or to every row. @returns what differs */
export const compareTree = (compared: Compared, range: KeyRange): Promise<Difference[]> =>
  compareFromRoot({ ...compared, range, attempt: 1 });

interface Comparison extends Compared {
  readonly range: KeyRange;
  readonly attempt: number;
}

async function compareFromRoot(comparison: Comparison): Promise<Difference[]> {
  const { owner } = comparison;
  const root = await comparison.readRoot();
  if (!root) return [];
  const top = toRanges(owner, root.level, root.entries, { start: "", end: root.last.start });
  const last = toRanges(owner, 0, [root.last], { start: root.last.start, end: root.watermark });
  const nodes = await compareEntries(comparison, root, root.level, top);
  const leaves = await compareEntries(comparison, root, 0, last);
  return [...nodes, ...leaves];
}

async function compareEntries(
  comparison: Comparison,
  root: Root,
  level: number,
  entries: readonly EntryRange[],
): Promise<Difference[]> {
  const { range } = comparison;
  const inRange = entries.filter(({ from, end }) => end > range.start && (range.end ?? end) > from);
  let differences: Difference[] = [];
  const parallel = level === 0 ? parallelLeaves : 1;
  for (let next = 0; next < inRange.length; next += parallel) {
    const compared = inRange
      .slice(next, next + parallel)
      .map((entry) =>
        level === 0 ? compareLeaf(comparison, root, entry) : compareNode(comparison, root, level, entry),
      );
    differences = [...differences, ...(await Promise.all(compared)).flat()];
  }
  return differences;
}

async function compareNode(
  comparison: Comparison,
  root: Root,
  level: number,
  entry: EntryRange,
): Promise<Difference[]> {
  const { owner, pace, range, attempt } = comparison;
  const { start, from, end } = entry;
  const node = await pace.retry(() => readNode(owner, root.generation, level, start));
  if (owner.sublist) await pace.spend(1);
  const sum = sumCells((node ?? []).map(({ cells }) => cells));
  const same = node !== undefined && equalCells(sum, entry.cells);
  // The node may have been changed or split after the root was read: compare its range from the current root.
  if (!same && attempt < attempts) {
    const narrowed = { ...range, start: latest(from, range.start), end: earliest(end, range.end ?? end) };
    return compareFromRoot({ ...comparison, range: narrowed, attempt: attempt + 1 });
  }
  const differences =
    same || (range.level ?? level) !== level ? [] : [describeDifference(root.statuses, level, entry, sum)];
  if ((range.level ?? 0) >= level) return differences;
  const below = toRanges(owner, level - 1, node ?? [], { start: from, end });
  return [...differences, ...(await compareEntries(comparison, root, level - 1, below))];
}

async function compareLeaf(comparison: Comparison, root: Root, entry: EntryRange): Promise<Difference[]> {
  const { owner, range } = comparison;
  if ((range.level ?? 0) > 0) return [];
  if (owner.sublist) return compareRows(comparison, root, entry);
  let actual: Cells = noCells;
  for await (const rows of comparison.readRows(entry)) {
    actual = sumCells([actual, ...rows.map((row) => toCells(root.statuses, row))]);
  }
  // Lists do not use the tree while a leaf is pending, which means that it must still be counted.
  if (root.pending.includes(entry.start) || equalCells(actual, entry.cells)) return [];
  return [describeDifference(root.statuses, 0, entry, actual)];
}

/** Compares the row of an entry in the tree of a sublist, and the rows between it and the next entry, which it misses. */
async function compareRows(comparison: Comparison, root: Root, entry: EntryRange): Promise<Difference[]> {
  const { range } = comparison;
  const from = latest(entry.from, range.start);
  const end = earliest(entry.end, range.end ?? entry.end);
  const counted = new Map<string, Cells>();
  if (entry.cells.size > 0 && entry.start >= from) counted.set(entry.start, entry.cells);
  const actual = new Map<string, Cells>();
  for await (const rows of comparison.readRows({ ...entry, from, end }))
    for (const row of rows) actual.set(row.sk, toCells(root.statuses, row));
  return [...new Set([...counted.keys(), ...actual.keys()])].flatMap((sk) => {
    const [cells, its] = [counted.get(sk) ?? noCells, actual.get(sk) ?? noCells];
    // No sort key lies between one and the same with a "!" after it.
    const row = { start: sk, from: sk, end: `${sk}!`, cells };
    return equalCells(cells, its) ? [] : [describeDifference(root.statuses, 0, row, its)];
  });
}

const toCells = (statuses: Statuses, { status }: CountedRow): Cells =>
  new Map([[cellNumber(statuses, status), 1]]);
