import { type CountedOwner, keyAt, type SublistOwner } from "../../../../shared/pages/tree/counted-list.ts";
import { emptyRoot } from "../../../../shared/pages/tree/root.ts";
import { commit, readRoot } from "../../../../shared/pages/tree/tree-store.ts";
import { tableTime } from "../../common/table-clock.ts";
import { completeSublist, waitForIndexes } from "../advance-sublist.ts";
import { type Reading, readAllRows, toReading } from "../all-rows.ts";
import { readSublists } from "../tree-items.ts";
import { CollectedRows } from "../verify/collected-rows.ts";
import { compareSublist } from "../verify/compare-sublist.ts";
import { findPersisting, type TreeDifferences } from "../verify/persisting.ts";
import { deleteOldNodes } from "./old-nodes.ts";
import { longestRequest, retryStep } from "./rebuild.ts";

/**
 * Corrects the trees of the sublists of a list, and makes those that are missing. It reads all rows of the list once. What it
 * has done remains if it is ended, and the next one does the rest.
 *
 * Wrong rows are set by their keys, as maintainers do it. A tree whose nodes are missing or do not add up is emptied and
 * counted again: until that is done, its lists read the rows that it does not count.
 */
export async function repairSublists(owner: CountedOwner, options: Partial<Reading> = {}): Promise<void> {
  const reading = toReading(options);
  const { limits, pace, wait } = reading;
  // A tree that a maintainer has just made for back-dated rows, such as those of an import, cannot be counted before.
  await waitForIndexes(owner, 0, reading);
  const sublists = await readSublists(owner, pace);
  const collected = new CollectedRows(sublists, keyAt(owner.list, tableTime()));
  const onItems: Reading["onItems"] = (items) => collected.add(items, true);
  for await (const _ of readAllRows(owner, { start: "" }, { ...reading, onItems }));
  const missing = collected.longerThan(limits.sublistRows);
  const emptied: SublistOwner[] = [];
  for (const sublist of sublists) {
    const found = await compareSublist(sublist, collected, pace);
    const broken = isBroken(found) && (await findPersisting([found], wait)).some(isBroken);
    if (broken) {
      await retryStep(() => emptyTree(sublist), reading);
      emptied.push(sublist);
    }
    await completeSublist(sublist, broken ? [] : toChanges(found), reading);
  }
  const made: readonly SublistOwner[] = [...emptied, ...missing.map((sublist) => ({ ...owner, sublist }))];
  for (const sublist of made) await completeSublist(sublist, [], reading);
  if (made.length > 0) await wait(limits.indexLateness + limits.skew + 1);
  // Back-dated rows that came before their trees are in the index now.
  for (const sublist of made) await completeSublist(sublist, [], reading);
  if (emptied.length > 0) await wait(longestRequest);
  for (const sublist of emptied) await deleteOldNodes(sublist, pace);
}

const isBroken = ({ differences }: TreeDifferences) => differences.some(({ level }) => level > 0);

/** Begins the tree again, with another generation of nodes: all rows are its tail, and the watermark has to pass them. */
async function emptyTree(owner: SublistOwner): Promise<void> {
  const root = await readRoot(owner);
  if (!root) return;
  const { version, generation } = root;
  const now = tableTime();
  const empty = { ...emptyRoot(generation + 1), version, createdAt: now, changedAt: now, overdue: true };
  await commit(owner, "root", empty, []);
}

/** The rows that differ. */
const toChanges = ({ differences }: TreeDifferences) =>
  differences.filter(({ level }) => level === 0).map(({ start: key }) => ({ key, backdated: false }));
