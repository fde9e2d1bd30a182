import { inParallel } from "../../in-parallel.ts";
import type { CountedOwner } from "../tree/counted-list.ts";
import { type CountedRow, readRows } from "../tree/rows.ts";
import { limits } from "../tree/tree-limits.ts";
import { readSoundRoot } from "../tree/tree-store.ts";
import {
  type Comparison,
  compareRange,
  comparison,
  type Finding,
  seemsWrong,
  wrongTwice,
} from "./compare-tree.ts";
import { type Reading, readAllRows, readSublists } from "./read-list.ts";
import type { KeyRange } from "./tree-part.ts";

/** When what was found is looked at again, in milliseconds: a change may be on its way to be counted. */
const secondLook = 60_000;

/**
 * Compares the trees of a list and of all its sublists with rows in the table, which are read page by page and
 * consistently: no index is read. If something is wrong, all is read and compared again a minute later: what is still the
 * same is reported. In memory are a page, and the rows of a node of each sublist.
 *
 * @param part the sort key at which the rows begin that are compared, and about how many they are; all rows unless set
 * @returns the trees that are wrong; and where the other rows begin, undefined if there are none
 */
export async function verify(
  list: CountedOwner,
  reading: Reading,
  { start = "", maxRows = Number.POSITIVE_INFINITY } = {},
): Promise<{ readonly findings: readonly Finding[]; readonly next: string | undefined }> {
  const { pace } = reading;
  const first = await compareTrees(list, { start, until: undefined }, reading, maxRows);
  const { next } = first;
  const found = first.trees.filter(seemsWrong);
  if (found.length === 0) return { findings: [], next };
  await pace.wait(secondLook);
  const again = await compareTrees(list, { start, until: next }, reading);
  const findings = found.flatMap((tree) => {
    const second = again.trees.find(({ owner }) => owner.origin === tree.owner.origin);
    return (second && wrongTwice(tree, second)) ?? [];
  });
  return { findings, next };
}

/** A tree with the rows of the table that were read and not compared yet, and where they begin. */
type Tree = Comparison & { rows: CountedRow[]; start: string };

/** So many rows, about those of a node, are compared at once: otherwise each page would read nodes of all sublists. */
const rowsAtOnce = 64;

/** @returns the trees with what is wrong with them, and where the rows begin that were not compared */
async function compareTrees(
  list: CountedOwner,
  range: KeyRange,
  reading: Reading,
  maxRows = Number.POSITIVE_INFINITY,
): Promise<{ readonly trees: readonly Comparison[]; readonly next: string | undefined }> {
  const { pace } = reading;
  const { fed = "", expiresAt } = (await pace.retry(() => readSoundRoot(list))) ?? {};
  const hasRows = async () => (await readRows(list, { start: "", maxRows: 1 })).rows.length > 0;
  // The trees of an erased account stay away.
  if (expiresAt !== undefined && !(await pace.retry(hasRows))) return { trees: [], next: undefined };
  const trees = new Map<string | undefined, Tree>();
  /** @param origin without it, the whole list */
  const treeOf = (origin?: string): Tree => {
    const tree = trees.get(origin) ?? {
      ...comparison({ ...list, origin }, fed, pace),
      ...{ rows: [], start: range.start },
    };
    trees.set(origin, tree);
    return tree;
  };
  const whole = treeOf();
  for (const { origin } of await readSublists(list, pace)) treeOf(origin).needsRoot = true;
  let count = 0;
  let rest: string | undefined;
  for await (const { rows, next } of readAllRows(list, range, reading)) {
    count += rows.length;
    const isLast = next === undefined || count >= maxRows;
    // A list with few rows needs no tree, and a sublist has one if it has a record.
    whole.needsRoot = count > limits.tail;
    for (const row of rows) {
      whole.rows.push(row);
      if (row.origin !== undefined) treeOf(row.origin).rows.push(row);
    }
    const until = next ?? range.until;
    const due = [...trees.values()].filter((tree) => isLast || tree.rows.length >= rowsAtOnce);
    await inParallel(due, async (tree) => {
      await compareRange(tree, { start: tree.start, until }, tree.rows);
      Object.assign(tree, { start: until, rows: [] });
    });
    rest = next;
    if (isLast && next !== undefined) break;
  }
  return { trees: [...trees.values()], next: rest };
}
