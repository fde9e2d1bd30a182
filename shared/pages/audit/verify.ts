import { inParallel } from "../../in-parallel.ts";
import type { CountedOwner } from "../tree/counted-list.ts";
import type { CountedRow } from "../tree/rows.ts";
import { limits } from "../tree/tree-limits.ts";
import { readSoundRoot } from "../tree/tree-store.ts";
import { type Comparison, compareRange, comparison, type Finding } from "./compare-tree.ts";
import { type Reading, readAllRows, readSublists } from "./read-list.ts";
import { lookAgain } from "./second-look.ts";

/**
 * Compares the trees of a list and of all its sublists with the rows in the table, which are read once, page by page and
 * consistently: no index is read. What is still the same a minute later is reported. In memory are a page, and the rows of
 * a node of each sublist.
 *
 * @returns the trees that are wrong
 */
export async function verify(list: CountedOwner, reading: Reading): Promise<readonly Finding[]> {
  const { pace } = reading;
  const root = await pace.retry(() => readSoundRoot(list));
  // The trees of an erased account stay away.
  if (root?.expiresAt !== undefined) return [];
  const fed = root?.fed ?? "";
  const found = await compareTrees(list, fed, reading);
  if (found.length === 0) return [];
  const same = await lookAgain(found, pace);
  const isErased = (await pace.retry(() => readSoundRoot(list)))?.expiresAt !== undefined;
  return isErased ? [] : same.filter(isWrong);
}

const isWrong = ({ differences, damage }: Finding) => differences.length > 0 || damage !== undefined;

/** A tree with the rows of the table that were read and not compared yet, and where they begin. */
type Tree = Comparison & { rows: CountedRow[]; start: string };

/** So many rows, about those of a node, are compared at once: otherwise each page would read nodes of all sublists. */
const rowsAtOnce = 64;

async function compareTrees(list: CountedOwner, fed: string, reading: Reading): Promise<Comparison[]> {
  const trees = new Map<string | undefined, Tree>();
  /** @param origin without it, the whole list */
  const treeOf = (origin?: string): Tree => {
    const tree = trees.get(origin) ?? {
      ...comparison({ ...list, origin }, fed, reading.pace),
      rows: [],
      start: "",
    };
    trees.set(origin, tree);
    return tree;
  };
  const whole = treeOf();
  for (const { origin } of await readSublists(list, reading)) treeOf(origin).needsRoot = true;
  let count = 0;
  for await (const { rows, next } of readAllRows(list, "", reading)) {
    count += rows.length;
    // A list with few rows needs no tree, and a sublist has one if it has a record.
    whole.needsRoot = count > limits.tail;
    for (const row of rows) {
      whole.rows.push(row);
      if (row.origin !== undefined) treeOf(row.origin).rows.push(row);
    }
    const due = [...trees.values()].filter((tree) => next === undefined || tree.rows.length >= rowsAtOnce);
    await inParallel(due, async (tree) => {
      await compareRange(tree, { start: tree.start, until: next }, tree.rows);
      Object.assign(tree, { start: next, rows: [] });
    });
  }
  return [...trees.values()].filter(isWrong);
}
