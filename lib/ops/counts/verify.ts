import { indexes, type Sublist, sublistIndexes } from "../../../shared/dynamodb/keys.ts";
import type { Item } from "../../../shared/dynamodb/table-client.ts";
import { inParallel } from "../../../shared/pages/maintain/in-parallel.ts";
import { type CountedOwner, countedRow } from "../../../shared/pages/tree/counted-list.ts";
import { type Reading, readAllRows, toReading } from "./all-rows.ts";
import { type Difference, identity, readTree, TreeComparison } from "./compare-tree.ts";
import { describeSublist, readSublists } from "./tree-items.ts";

/**
 * Counts all rows of a list and compares them with its tree, and with the trees of its sublists. The rows are read once, for
 * all of them.
 *
 * @returns the differences that stay the same, each with the source or the channel of its sublist
 */
export async function verify(owner: CountedOwner, options: Partial<Reading> = {}) {
  const reading = toReading(options);
  const trees = [owner, ...(await readSublists(owner, reading.pace))];
  const found = await findDifferences(owner, trees, reading);
  return [...found].flatMap(([tree, differences]) =>
    differences.map((difference) => ({ ...describeSublist(tree), ...difference })),
  );
}

/**
 * The delays between the comparisons, in milliseconds: together longer than the stream takes to deliver a change. A
 * difference is reported if it is the same in all comparisons, because one that changes is on its way to be counted.
 */
const comparisonDelays = [10_000, 20_000, 40_000];

/** The differences of trees that have any. */
type Differences = ReadonlyMap<CountedOwner, readonly Difference[]>;

/** Compares a list and sublists of it, or some of them, with the rows of the list. @returns the differences that stay the same */
export async function findDifferences(
  whole: CountedOwner,
  trees: readonly CountedOwner[],
  reading: Reading,
): Promise<Differences> {
  let found = await compareTrees(whole, trees, [{ start: "" }], reading);
  for (const delay of comparisonDelays) {
    if (found.size === 0) break;
    await reading.wait(delay);
    const same = new Map<CountedOwner, readonly Difference[]>();
    for (const [tree, before] of found) {
      const leaves = before.filter(({ level }) => level === 0);
      const ranges = leaves.sort((a, b) => (a.start < b.start ? -1 : 1));
      const again = await compareTrees(whole, [tree], ranges, reading, new Set(before.map(identity)));
      for (const [tree, differences] of again) same.set(tree, differences);
    }
    found = same;
  }
  return found;
}

/**
 * Compares trees with the rows of ranges of their list, which are in order.
 *
 * @param only the identities of the differences to look for, whose rows are in the ranges; without them, all
 */
async function compareTrees(
  whole: CountedOwner,
  trees: readonly CountedOwner[],
  ranges: readonly { readonly start: string; readonly end?: string }[],
  reading: Reading,
  only?: ReadonlySet<string>,
): Promise<Differences> {
  const comparisons = new Map<string, TreeComparison>();
  await inParallel(trees, async (owner) => {
    const tree = await readTree(owner, reading.pace);
    if (tree) comparisons.set(sublistName(owner.sublist), new TreeComparison(tree, only));
  });
  const onItems = (items: readonly Item[]) => {
    reading.onItems?.(items);
    for (const item of items)
      for (const sublist of [undefined, ...sublistsOf(item)])
        comparisons.get(sublistName(sublist))?.add(countedRow(item));
  };
  for (const range of ranges) {
    for await (const _ of readAllRows(whole, range, { ...reading, onItems }));
  }
  const compared = trees.map(
    (owner) => [owner, comparisons.get(sublistName(owner.sublist))?.end() ?? []] as const,
  );
  return new Map(compared.filter(([, differences]) => differences.length > 0));
}

/** Distinguishes the sublists of a list, and the whole list. */
export const sublistName = (sublist: Sublist | undefined) =>
  sublist ? `${sublist.index} ${sublist.partition}` : "";

/** The sublists of a row, as `onItems` of `readRows` has it. */
export const sublistsOf = (item: Item): Sublist[] =>
  sublistIndexes
    .filter((index) => item[indexes[index]] !== undefined)
    .map((index) => ({ index, partition: String(item[indexes[index]]) }));
