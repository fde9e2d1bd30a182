import { isDeepStrictEqual } from "node:util";
import { logInvalidItem } from "../../dynamodb/invalid-items.ts";
import { accountPartition, isLabelPartition, labelTreeKey } from "../../dynamodb/keys.ts";
import type { Pace } from "../../dynamodb/pace.ts";
import { between, queryAll, queryPages } from "../../dynamodb/read-pages.ts";
import { InvalidItemError } from "../../errors.ts";
import { inParallel } from "../../in-parallel.ts";
import { type CountedOwner, isRowKey } from "../tree/counted-list.ts";
import { type CountedRow, countedOnly, countedRow, endOf, type RowBounds } from "../tree/rows.ts";
import { labelTreeRecords, readValidRoot } from "../tree/tree-store.ts";
import { compareTree, type Finding } from "./compare-tree.ts";

/** The trees that are wrong in a part of a list, and where the rows after this part begin; undefined if there are none. */
export interface Verified {
  readonly findings: readonly Finding[];
  readonly next: string | undefined;
}

interface Reading {
  readonly pace: Pace;
  /** Called for items that are no rows; without it, they are logged. */
  readonly onInvalid?: (error: InvalidItemError) => void;
}

/** The time after which findings are checked again, in milliseconds: a change may be on its way to be counted. */
const secondLook = 60_000;

/** A sort key before those of all rows. */
export const firstKey = " ";

/** About how many rows are compared at once: they are in memory. */
const partRows = 100_000;

/**
 * Compares the trees of a list and of all its labels with a part of its rows in the table, which are read consistently: no
 * index is read. If something is wrong, the part is read and compared again a minute later, and only what is still wrong in
 * the same way is reported.
 */
export async function verify(
  list: CountedOwner,
  reading: Reading,
  { start = firstKey, maxRows = partRows } = {},
): Promise<Verified> {
  const { trees, next } = await compareTrees(list, { start, maxRows }, reading);
  const found = trees.filter(isWrong);
  if (found.length === 0) return { findings: [], next };
  await reading.pace.wait(secondLook);
  const part = { start, end: next, maxRows: Number.POSITIVE_INFINITY };
  const again = await compareTrees(list, part, reading);
  const findings = found.flatMap((first) => {
    const second = again.trees.find(({ owner }) => owner.labelKey === first.owner.labelKey);
    return second ? wrongTwice(first, second) : [];
  });
  return { findings: findings.filter(isWrong), next };
}

const isWrong = ({ differences, damage }: Finding) => differences.length > 0 || damage !== undefined;

function wrongTwice(first: Finding, second: Finding): Finding {
  const before = new Map(first.differences.map((difference) => [difference.sk, difference]));
  return {
    owner: second.owner,
    differences: second.differences.filter((each) => isDeepStrictEqual(each, before.get(each.sk))),
    damage: first.damage && second.damage,
  };
}

/** @returns all trees, each with what is wrong with it, and where the rows that were not compared begin */
async function compareTrees(list: CountedOwner, part: RowBounds, reading: Reading) {
  const { pace } = reading;
  const { fed = "", expiresAt } = (await pace.retry(() => readValidRoot(list))) ?? {};
  // The labels of an erased account must get no trees. If it is used again, its root is an empty tree like any other.
  const recorded = expiresAt === undefined ? await readLabelKeys(list, pace) : [];
  const { rows, next } = await readPart(list, part, reading);
  const byLabel = Map.groupBy(rows, ({ labelKey }) => labelKey);
  // The tree of the list also has the rows without a label.
  byLabel.set(undefined, rows);
  const range = { start: part.start, until: next ?? part.end };
  const trees: Finding[] = [];
  const keys = new Set([undefined, ...recorded, ...byLabel.keys()]);
  await inParallel([...[...keys].entries()], async ([index, labelKey]) => {
    const rows = byLabel.get(labelKey) ?? [];
    // A label has a tree if it has a record. A list without a tree is exact, and its next change counts all its rows.
    const needsRoot = labelKey !== undefined && recorded.includes(labelKey);
    // The tree of a label also has all rows of the label before `fed`, except those whose change is on its way.
    const must = { ...range, rows, needsRoot, countedUntil: labelKey === undefined ? "" : fed };
    trees[index] = await compareTree({ ...list, labelKey }, must, pace);
  });
  return { trees, next };
}

/** Reads the partitions of the labels of a list that have trees, by their records. Other items are skipped. */
async function readLabelKeys(owner: CountedOwner, pace: Pace): Promise<string[]> {
  const { account, list } = owner;
  const records = await queryAll(labelTreeRecords(owner), pace);
  return records.flatMap(({ sk, labelKey }) =>
    isLabelPartition(list.type, account, labelKey) && labelTreeKey(list.type, account, labelKey).sk === sk
      ? labelKey
      : [],
  );
}

/** Reads rows of a list page by page and consistently. Items that are no rows are passed to `onInvalid`. */
async function readPart(
  list: CountedOwner,
  { start, end, maxRows }: RowBounds,
  { pace, onInvalid = logInvalidItem }: Reading,
) {
  const pk = accountPartition(list.list.type, list.account);
  const part = { ...between(pk, start, end), ...countedOnly };
  const rows: CountedRow[] = [];
  for await (const { Items = [], LastEvaluatedKey } of queryPages(part, pace)) {
    for (const item of Items)
      if (isRowKey(list.list, item.sk)) rows.push(countedRow(list, item));
      else onInvalid(new InvalidItemError({ pk, sk: item.sk }, "sk"));
    if (rows.length >= maxRows) return { rows, next: LastEvaluatedKey && endOf(rows) };
  }
  return { rows, next: undefined };
}
