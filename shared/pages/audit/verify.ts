import { inParallel } from "../maintain/in-parallel.ts";
import type { CountedOwner } from "../tree/counted-list.ts";
import { type RowBounds, type Rows, readRows } from "../tree/rows.ts";
import { limits } from "../tree/tree-limits.ts";
import { DamagedTreeError, readRoot } from "../tree/tree-store.ts";
import { compareRows, type Difference, TreeComparison } from "./compare-tree.ts";
import { readSublists } from "./sublists.ts";
import type { Pace } from "./tree-part.ts";

/** A tree that is wrong. */
export interface Finding {
  readonly owner: CountedOwner;
  readonly differences: readonly Difference[];
  /** Why the tree must be counted again: it is damaged, or too many rows differ. */
  readonly damage: DamagedTreeError | undefined;
}

/** How an audit works. */
export interface Auditing {
  readonly pace: Pace;
  /** Called with the number of rows of each page. */
  readonly onRows?: (rows: number) => void;
}

/** The most rows of a page; the table returns 1 MB at most. */
const pageRows = 10_000;

/**
 * When what was found is looked at again, in milliseconds after the look before: a change may be on its way to be
 * counted. What stays the same is reported.
 */
const looks = [20_000, 40_000];

/**
 * Compares the trees of a list and of all its sublists with the rows in the table, which are read once, page by page and
 * consistently: no index is read. In memory are a page, and the rows of a node of each sublist.
 *
 * @returns the trees that are wrong
 */
export async function verify(list: CountedOwner, auditing: Auditing): Promise<readonly Finding[]> {
  const { pace } = auditing;
  const root = await pace.retry(() => readRoot(list));
  // The trees of an erased account stay away.
  if (root?.expiresAt !== undefined) return [];
  const fed = root?.fed ?? "";
  let found: readonly Finding[] = await compareTrees(list, fed, auditing);
  for (const delay of looks) {
    if (found.length === 0) break;
    await pace.wait(delay);
    const same: Finding[] = [];
    for (const finding of found) same.push(await lookAgain(finding, fed, pace));
    found = same.filter(isWrong);
  }
  const isErased = found.length > 0 && (await pace.retry(() => readRoot(list)))?.expiresAt !== undefined;
  return isErased ? [] : found;
}

const isWrong = ({ differences, damage }: Finding) => differences.length > 0 || damage !== undefined;

async function compareTrees(list: CountedOwner, fed: string, { pace, onRows }: Auditing) {
  const whole = new TreeComparison(list, fed, pace);
  const recorded = await readSublists(list, pace);
  const toTree = (origin: string) => new TreeComparison({ ...list, origin }, fed, pace);
  const sublists = new Map(recorded.map(({ origin }) => [origin, toTree(origin)]));
  let count = 0;
  for (let start: string | undefined = ""; start !== undefined; ) {
    const bounds: RowBounds = { start, maxRows: pageRows };
    const { rows, next, units }: Rows = await pace.retry(() => readRows(list, bounds));
    await pace.spend(units);
    onRows?.(rows.length);
    count += rows.length;
    const byOrigin = Map.groupBy(rows, ({ origin }) => origin);
    for (const origin of byOrigin.keys())
      if (origin !== undefined && !sublists.has(origin)) sublists.set(origin, toTree(origin));
    await whole.compare(rows, next);
    await inParallel([...sublists], ([origin, tree]) => tree.compare(byOrigin.get(origin) ?? [], next));
    start = next;
  }
  // A list with few rows needs no tree, and a sublist has one if it has a record.
  const needed = [
    ...(count > limits.tail ? [whole] : []),
    ...recorded.map(({ origin }) => sublists.get(origin)),
  ];
  for (const tree of needed) if (tree?.isMissing) tree.damage = new DamagedTreeError("The root is missing.");
  return [whole, ...sublists.values()].filter(isWrong);
}

/** What is still the same of a finding. */
async function lookAgain({ owner, damage, differences }: Finding, fed: string, pace: Pace): Promise<Finding> {
  const root = await pace.retry(() => readRoot(owner));
  await pace.spend(1);
  if (damage && root?.generation === damage.root?.generation) return { owner, differences, damage };
  const before = new Map(differences.map((difference) => [difference.sk, difference]));
  try {
    const now = await compareRows(owner, [...before.keys()], fed, pace);
    const isSame = ({ sk, counted, actual }: Difference) =>
      before.get(sk)?.counted === counted && before.get(sk)?.actual === actual;
    return { owner, differences: now.filter(isSame), damage: undefined };
  } catch (error) {
    if (!(error instanceof DamagedTreeError)) throw error;
    return { owner, differences: [], damage: error };
  }
}
