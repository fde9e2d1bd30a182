import { isDeepStrictEqual } from "node:util";
import type { Pace } from "../../dynamodb/pace.ts";
import { withRetry } from "../../dynamodb/retry.ts";
import { type CountedOwner, latest } from "../tree/counted-list.ts";
import type { CountedRow } from "../tree/rows.ts";
import { DamagedTreeError, isTreeChanged } from "../tree/tree-store.ts";
import { type KeyRange, readTreePart } from "./tree-part.ts";

/** A row that a tree counts otherwise than it is in the table, by the cells; undefined for none. */
export interface Difference {
  readonly sk: string;
  readonly counted: number | undefined;
  readonly actual: number | undefined;
}

/** A tree that is compared with the table, and what was found so far. */
export interface Comparison {
  readonly owner: CountedOwner;
  /** That of the list. */
  readonly fed: string;
  readonly pace: Pace;
  /** Whether there must be a tree. */
  needsRoot: boolean;
  readonly differences: Difference[];
  /** Why the tree must be counted again. */
  damage: DamagedTreeError | undefined;
}

/** A tree that is wrong. */
export type Finding = Readonly<Pick<Comparison, "owner" | "differences" | "damage">>;

/** A comparison that has not begun. @param fed that of the list */
export const comparison = (owner: CountedOwner, fed: string, pace: Pace): Comparison => ({
  ...{ owner, fed, pace, needsRoot: false, differences: [], damage: undefined },
});

/** How long a part of a tree is read again while commits come first, in milliseconds. */
const partTimeout = 60_000;

/** Compares the rows of a tree in a range with those of the table, unless the tree is damaged. */
export async function compareRange(
  tree: Comparison,
  { start, until }: KeyRange,
  rows: readonly CountedRow[],
) {
  try {
    for (let from: string | undefined = start; from !== undefined && !tree.damage; )
      from = await comparePart(tree, { start: from, until }, rows);
  } catch (error) {
    if (!(error instanceof DamagedTreeError)) throw error;
    tree.damage = error;
  }
}

/** Compares the first rows of a range. @returns where the others begin; undefined if there are none */
async function comparePart(tree: Comparison, range: KeyRange, rows: readonly CountedRow[]) {
  const { owner, fed, pace, needsRoot, differences } = tree;
  const part = await withRetry(() => readTreePart(owner, range, pace), {
    ...{ deadline: Date.now() + partTimeout, isRetryable: isTreeChanged },
  });
  const { root, rows: counted, end } = part;
  if (!root && needsRoot) throw new DamagedTreeError(owner, "The root is missing.");
  // A maintainer that finds rows takes the time away.
  if (root?.expiresAt !== undefined && rows.length > 0)
    throw new DamagedTreeError(owner, "The root is that of an erased account, which has rows.", root);
  // A sublist has all rows before `fed`, too, except those whose change is on its way.
  const before = latest(root?.watermark ?? "", owner.origin === undefined ? "" : fed);
  const isInPart = ({ sk }: CountedRow) => sk >= range.start && (end === undefined || sk < end);
  const settled = rows.filter((row) => isInPart(row) && row.sk < before);
  const actual = new Map(settled.map(({ sk, cell }) => [sk, cell]));
  for (const sk of new Set([...counted.keys(), ...actual.keys()])) {
    const difference = { sk, counted: counted.get(sk), actual: actual.get(sk) };
    if (difference.counted !== difference.actual) differences.push(difference);
  }
  return end;
}

/** What is wrong with a tree at both of two looks; undefined for nothing. Changes may have been on their way to be counted. */
export function wrongTwice(first: Comparison, second: Comparison): Finding | undefined {
  const before = new Map(first.differences.map((difference) => [difference.sk, difference]));
  const differences = second.differences.filter((each) => isDeepStrictEqual(each, before.get(each.sk)));
  const damage = first.damage && second.damage;
  const found = { owner: second.owner, differences, damage };
  return seemsWrong(found) ? found : undefined;
}

/** Whether something seems to be wrong with a tree. */
export const seemsWrong = ({ differences, damage }: Finding) =>
  differences.length > 0 || damage !== undefined;
