import { readStates } from "../../../../shared/pages/maintenance/row-states.ts";
import type { CountedRow, SublistOwner } from "../../../../shared/pages/tree/counted-list.ts";
import { readRoot } from "../../../../shared/pages/tree/tree-store.ts";
import type { Pace } from "../../common/pace.ts";
import { type CollectedRows, sliceRows } from "./collected-rows.ts";
import { compareTree, type KeyRange } from "./compare-tree.ts";
import type { EntryRange } from "./entry-ranges.ts";
import type { TreeDifferences } from "./persisting.ts";

/**
 * Compares the tree of a sublist with rows that were read from the whole list.
 *
 * @returns its differences, which can be compared again: then with consistent reads of the rows that differ
 */
export async function compareSublist(
  owner: SublistOwner,
  collected: CollectedRows,
  pace: Pace,
): Promise<TreeDifferences> {
  const rows = collected.rows(owner);
  const tree = { owner, pace, readRoot: () => readTreeRoot(owner, pace) };
  const readCollected = async function* ({ from, end }: EntryRange) {
    yield sliceRows(rows, from, end);
  };
  const whole = { start: "", end: collected.end };
  const differences = await compareTree({ ...tree, readRows: readCollected }, whole);
  const readRows = (entry: EntryRange) => readNow(owner, rows, entry, pace);
  return { owner, differences, compare: (range: KeyRange) => compareTree({ ...tree, readRows }, range) };
}

async function readTreeRoot(owner: SublistOwner, pace: Pace) {
  const root = await pace.retry(() => readRoot(owner));
  await pace.spend(1);
  return root;
}

/** Reads the rows of an entry by their keys: that of the entry, and those that were collected. */
async function* readNow(
  owner: SublistOwner,
  collected: readonly CountedRow[],
  { start, from, end, cells }: EntryRange,
  pace: Pace,
) {
  const keys = sliceRows(collected, from, end).map(({ sk }) => sk);
  if (cells.size > 0 && start >= from) keys.push(start);
  const states = await readStates(owner, keys, pace.retry);
  await pace.spend(keys.length);
  yield [...states.values()];
}
