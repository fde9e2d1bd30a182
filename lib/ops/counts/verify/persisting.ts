import type { CountedOwner } from "../../../../shared/pages/tree/counted-list.ts";
import type { Wait } from "../../common/pace.ts";
import type { KeyRange } from "./compare-tree.ts";
import type { Difference } from "./difference.ts";

/**
 * The delays between the comparisons, in milliseconds: together longer than the stream takes to deliver a change. A
 * difference is reported if it is the same in all comparisons, because one that changes is on its way to be counted.
 */
const comparisonDelays = [10_000, 20_000, 40_000];

/** The differences of a tree. */
export interface TreeDifferences {
  readonly owner: CountedOwner;
  readonly differences: readonly Difference[];
  /** Compares a range again. */
  readonly compare: (range: KeyRange) => Promise<Difference[]>;
}

/** Compares differing trees again. @returns the differences that stay the same */
export async function findPersisting(
  first: readonly TreeDifferences[],
  wait: Wait,
): Promise<readonly TreeDifferences[]> {
  let trees = first.filter(({ differences }) => differences.length > 0);
  for (const delay of comparisonDelays) {
    if (trees.length === 0) break;
    await wait(delay);
    const remaining: TreeDifferences[] = [];
    for (const tree of trees) {
      const before = toMap(tree.differences);
      const again: Difference[] = [];
      for (const { level, start, end } of before.values())
        again.push(...(await tree.compare({ start, end, level })));
      const same = [...toMap(again)].filter(([identity]) => before.has(identity));
      if (same.length > 0) remaining.push({ ...tree, differences: same.map(([, difference]) => difference) });
    }
    trees = remaining;
  }
  return trees;
}

/** Differences with the same range and the same counts are one. */
const toMap = (differences: readonly Difference[]) =>
  new Map(differences.map((difference) => [JSON.stringify(difference), difference]));
