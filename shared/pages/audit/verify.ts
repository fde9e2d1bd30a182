import { isDeepStrictEqual } from "node:util";
import { logInvalidItem } from "../../dynamodb/invalid-items.ts";
import { listPartition } from "../../dynamodb/keys.ts";
import type { Pace } from "../../dynamodb/pace.ts";
import { fromKey, keysOnly, queryItems } from "../../dynamodb/read-pages.ts";
import { InvalidItemError } from "../../errors.ts";
import { inParallel } from "../../in-parallel.ts";
import { type CountedOwner, endOfRows, keyAt } from "../tree/counted-list.ts";
import { readLabelTrees } from "../tree/label-tree-records.ts";
import { type Rows, readRows } from "../tree/rows.ts";
import { limits } from "../tree/tree-limits.ts";
import { readValidRoot } from "../tree/tree-store.ts";
import { ComparedTree, type Finding } from "./compare-tree.ts";

/** From a sort key to before another one, or to the end. */
interface KeyRange {
  readonly start: string;
  readonly until: string | undefined;
}

/** How the rows of a list are read. */
interface Reading {
  readonly pace: Pace;
  /** Called with items that are no rows; without it, they are logged. */
  readonly onInvalid?: (error: InvalidItemError) => void;
}

/** When what was found is looked at again, in milliseconds: a change may be on its way to be counted. */
const secondLook = 60_000;

/**
 * Compares the trees of a list and of all its labels with rows in the table, which are read page by page and
 * consistently: no index is read. If something is wrong, all is read and compared again a minute later: what is still the
 * same is reported. In memory are a page, and the rows of a node of each label.
 *
 * @param part the sort key at which the rows begin that are compared, and about how many they are; all rows unless set
 * @returns the trees that are wrong; and where the other rows begin, undefined if there are none
 */
export async function verify(
  list: CountedOwner,
  reading: Reading,
  { start = "", maxRows = Number.POSITIVE_INFINITY } = {},
): Promise<{ readonly findings: readonly Finding[]; readonly next: string | undefined }> {
  const { trees, next } = await compareTrees(list, { start, until: undefined }, reading, maxRows);
  const found = trees.filter(isWrong);
  if (found.length === 0) return { findings: [], next };
  await reading.pace.wait(secondLook);
  const again = await compareTrees(list, { start, until: next }, reading);
  const findings = found.flatMap((first) => {
    const second = again.trees.find(({ owner }) => owner.labelKey === first.owner.labelKey);
    return second ? wrongTwice(first, second) : [];
  });
  return { findings: findings.filter(isWrong), next };
}

const isWrong = ({ differences, damage }: Finding) => differences.length > 0 || damage !== undefined;

/** What is wrong with a tree at both of two looks. */
function wrongTwice(first: Finding, second: Finding): Finding {
  const before = new Map(first.differences.map((difference) => [difference.sk, difference]));
  return {
    owner: second.owner,
    differences: second.differences.filter((each) => isDeepStrictEqual(each, before.get(each.sk))),
    damage: first.damage && second.damage,
  };
}

/** So many rows, about those of a node, are compared at once: otherwise each page would read nodes of all labels. */
const rowsAtOnce = 64;

/** How long a change may wait in the stream until it is counted, in milliseconds. */
const longestWait = 24 * 3_600_000;

/** @returns the trees with what is wrong with them, and where the rows begin that were not compared */
async function compareTrees(
  list: CountedOwner,
  range: KeyRange,
  reading: Reading,
  maxRows = Number.POSITIVE_INFINITY,
): Promise<{ readonly trees: readonly ComparedTree[]; readonly next: string | undefined }> {
  const { pace } = reading;
  const { fed = "", expiresAt } = (await pace.retry(() => readValidRoot(list))) ?? {};
  const trees = new Map<string | undefined, ComparedTree>();
  /** @param labelKey without it, the whole list */
  const treeOf = (labelKey?: string): ComparedTree => {
    const tree = trees.get(labelKey) ?? new ComparedTree({ ...list, labelKey }, range.start, fed, pace);
    trees.set(labelKey, tree);
    return tree;
  };
  const whole = treeOf();
  // Those of an erased account stay away. If it is used again, the root that is left is an empty tree as any other.
  const labels = expiresAt === undefined ? await readLabelTrees(list, pace) : [];
  for (const { labelKey } of labels) treeOf(labelKey).needsRoot = true;
  const old = keyAt(list.list, Date.now() - longestWait);
  let count = 0;
  let next: string | undefined;
  for await (const page of readAllRows(list, range, reading)) {
    const { rows } = page;
    next = page.next;
    count += rows.length;
    // A list with few rows needs no tree, and a label has one if it has a record.
    whole.needsRoot ||= rows.filter(({ sk }) => sk < old).length > limits.tail;
    for (const row of rows) {
      whole.rows.push(row);
      if (row.labelKey !== undefined) treeOf(row.labelKey).rows.push(row);
    }
    const isLast = next === undefined || count >= maxRows;
    const due = [...trees.values()].filter((tree) => isLast || tree.rows.length >= rowsAtOnce);
    const until = next ?? range.until;
    await inParallel(due, (tree) => tree.compareUntil(until));
    if (isLast) break;
  }
  return { trees: [...trees.values()], next };
}

/** The most rows of a page; the table returns 1 MB at most. */
const pageRows = 10_000;

/** Reads the rows of a list in a range, page by page and consistently. Items that are no rows are named. */
async function* readAllRows(
  list: CountedOwner,
  { start, until }: KeyRange,
  { pace, onInvalid = logInvalidItem }: Reading,
): AsyncGenerator<Rows> {
  const pk = listPartition(list.list.type, list.account);
  const name = (sk: unknown) => onInvalid(new InvalidItemError({ pk, sk }, "sk"));
  const end = until ?? endOfRows(list.list);
  for (let from: string | undefined = start; from !== undefined; ) {
    const bounds = { start: from, end, maxRows: pageRows };
    const page: Rows = await pace.retry(() => readRows(list, bounds));
    await pace.spend(page.units);
    page.others.forEach(name);
    from = page.next;
    if (from === undefined && until === undefined)
      for await (const items of queryItems({ ...fromKey(pk, end), ...keysOnly }, pace))
        for (const { sk } of items) name(sk);
    yield page;
  }
}
