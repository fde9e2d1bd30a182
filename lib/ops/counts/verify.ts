import { type Cells, equalCells, noCells, sumCells } from "../../../shared/pages/tree/cells.ts";
import { earliest, latest } from "../../../shared/pages/tree/counted-list.ts";
import type { Entry } from "../../../shared/pages/tree/entry.ts";
import { cellNumber } from "../../../shared/pages/tree/names.ts";
import type { Root } from "../../../shared/pages/tree/root.ts";
import { type CountedOwner, readNode, readRoot } from "../../../shared/pages/tree/tree-store.ts";
import { type Reading, readAllRows, toReading } from "./all-rows.ts";
import { type Difference, describeDifference, type EntryRange } from "./difference.ts";

/**
 * The delays between the comparisons, in milliseconds: together longer than the stream takes to deliver a change. A
 * difference is reported if it is the same in all comparisons, because one that changes is on its way to be counted.
 */
const comparisonDelays = [10_000, 20_000, 40_000];

/** How often a range is compared again from the root when the tree changes during the comparison. */
const attempts = 3;

/** How many leaves are read at once. */
const parallelLeaves = 8;

/** A range of sort keys to compare; with a level, only that level of the tree is compared. */
interface KeyRange {
  readonly start: string;
  readonly end: string | undefined;
  readonly level?: number;
}

/** Counts all rows of a list and compares them with its tree. @returns the differences that stay the same */
export async function verify(owner: CountedOwner, options: Partial<Reading> = {}): Promise<Difference[]> {
  const reading = toReading(options);
  const compare = (range: KeyRange) => compareTree({ ...reading, owner, range, attempt: 1 });
  let differences = toMap(await compare({ start: "", end: undefined }));
  for (const delay of comparisonDelays) {
    if (differences.size === 0) break;
    await reading.wait(delay);
    const remaining: Difference[] = [];
    for (const { level, start, end } of differences.values())
      remaining.push(...(await compare({ start, end, level })));
    const before = differences;
    differences = toMap(remaining.filter((difference) => before.has(identity(difference))));
  }
  return [...differences.values()];
}

/** Differences with the same range and the same counts are one. */
const identity = (difference: Difference) => JSON.stringify(difference);

const toMap = (differences: readonly Difference[]) =>
  new Map(differences.map((difference) => [identity(difference), difference]));

interface Comparison extends Reading {
  readonly owner: CountedOwner;
  readonly range: KeyRange;
  readonly attempt: number;
}

/** Traverses the tree from its current root to every leaf of the range. */
async function compareTree(comparison: Comparison): Promise<Difference[]> {
  const root = await comparison.pace.retry(() => readRoot(comparison.owner));
  if (!root) return [];
  const top = toRanges(root.entries, root.last.start);
  const last = toRanges([root.last], root.watermark);
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
  const inRange = entries.filter(({ start, end }) => end > range.start && (range.end ?? end) > start);
  const differences: Difference[] = [];
  const parallel = level === 0 ? parallelLeaves : 1;
  for (let from = 0; from < inRange.length; from += parallel) {
    const compared = inRange
      .slice(from, from + parallel)
      .map((entry) =>
        level === 0 ? compareLeaf(comparison, root, entry) : compareNode(comparison, root, level, entry),
      );
    differences.push(...(await Promise.all(compared)).flat());
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
  const { start, end } = entry;
  const node = await pace.retry(() => readNode(owner, root.generation, level, start));
  const sum = sumCells((node ?? []).map(({ cells }) => cells));
  const same = node !== undefined && equalCells(sum, entry.cells);
  // The node may have been changed or split after the root was read: compare its range from the current root.
  if (!same && attempt < attempts) {
    const narrowed = { ...range, start: latest(start, range.start), end: earliest(end, range.end ?? end) };
    return compareTree({ ...comparison, range: narrowed, attempt: attempt + 1 });
  }
  const differences =
    same || (range.level ?? level) !== level ? [] : [describeDifference(root.names, level, entry, sum)];
  if ((range.level ?? 0) >= level) return differences;
  const below = await compareEntries(comparison, root, level - 1, toRanges(node ?? [], end));
  return [...differences, ...below];
}

async function compareLeaf(comparison: Comparison, root: Root, entry: EntryRange): Promise<Difference[]> {
  // Lists do not use the tree while a leaf is pending, which means that it must still be counted.
  if ((comparison.range.level ?? 0) > 0 || root.pending.includes(entry.start)) return [];
  let actual: Cells = noCells;
  for await (const rows of readAllRows(comparison.owner, entry, comparison)) {
    actual = sumCells([actual, ...rows.map((row) => new Map([[cellNumber(root.names, row), 1]]))]);
  }
  return equalCells(actual, entry.cells) ? [] : [describeDifference(root.names, 0, entry, actual)];
}

/** The ranges of adjacent entries, of which the last ends at `end`. */
const toRanges = (entries: readonly Entry[], end: string): EntryRange[] =>
  entries.map((entry, index) => ({ ...entry, end: entries[index + 1]?.start ?? end }));
