import { readStates } from "../../../../shared/pages/maintenance/row-states.ts";
import type { CountedRow, SublistOwner } from "../../../../shared/pages/tree/counted-list.ts";
import { hasGroups, rowGroups } from "../../../../shared/pages/tree/groups.ts";
import { emptyRoot } from "../../../../shared/pages/tree/root.ts";
import { readRoot } from "../../../../shared/pages/tree/tree-store.ts";
import type { Pace } from "../../common/pace.ts";
import { groupPrefix, readTreeItems } from "../tree-items.ts";
import { type CollectedRows, sliceRows } from "./collected-rows.ts";
import { type Compared, compareTree } from "./compare-tree.ts";
import type { EntryRange } from "./entry-ranges.ts";
import type { TreeDifferences } from "./persisting.ts";

/**
 * Compares the tree of a sublist, and its groups if it is a lead's, with rows that were read from the whole list.
 *
 * @returns the trees that differ, which can be compared again: then with consistent reads of the rows that differ
 */
export async function compareSublist(
  owner: SublistOwner,
  collected: CollectedRows,
  pace: Pace,
): Promise<TreeDifferences[]> {
  const rows = collected.rows(owner);
  const differing: TreeDifferences[] = [];
  const groups = hasGroups(owner.sublist) ? await groupRows(owner, rows, pace) : [];
  for (const [group, its] of [[undefined, rows] as const, ...groups]) {
    const tree = { owner: { ...owner, group }, pace, readRoot: () => readTreeRoot(owner, group, pace) };
    const readCollected = async function* ({ from, end }: EntryRange) {
      yield sliceRows(its, from, end);
    };
    const differences = await compareTree(
      { ...tree, readRows: readCollected },
      { start: "", end: collected.end },
    );
    const now: Compared = { ...tree, readRows: (entry) => readNow(owner, group, its, entry, pace) };
    if (differences.length > 0)
      differing.push({ owner: tree.owner, rows, differences, compare: (range) => compareTree(now, range) });
  }
  return differing;
}

/** The rows of each group by its name, and of the groups that the tree has and that have no rows. */
async function groupRows(owner: SublistOwner, rows: readonly CountedRow[], pace: Pace) {
  const groups = new Map<string, CountedRow[]>();
  for await (const items of readTreeItems(owner, groupPrefix, pace))
    for (const { sk } of items) groups.set(String(sk).split("#")[1] ?? "", []);
  const bySame = Map.groupBy(rows, ({ status, sourceOrChannel }) =>
    JSON.stringify([status, sourceOrChannel]),
  );
  for (const same of bySame.values())
    for (const name of same[0] ? rowGroups(same[0]) : [])
      groups.set(name, [...(groups.get(name) ?? []), ...same]);
  for (const its of groups.values()) its.sort((a, b) => (a.sk < b.sk ? -1 : 1));
  return groups;
}

/** The root of a sublist or of one of its groups: a group counts its rows up to the watermark of the lead's tree. */
async function readTreeRoot(owner: SublistOwner, group: string | undefined, pace: Pace) {
  const root = await pace.retry(() => readRoot(owner));
  await pace.spend(1);
  if (!root || group === undefined) return root;
  const found = await pace.retry(() => readRoot({ ...owner, group }));
  const { generation, watermark } = root;
  return { ...(found?.generation === generation ? found : emptyRoot(generation)), watermark };
}

/** Reads the rows of an entry by their keys: that of the entry, and those that were collected. */
async function* readNow(
  owner: SublistOwner,
  group: string | undefined,
  collected: readonly CountedRow[],
  { start, from, end, cells }: EntryRange,
  pace: Pace,
) {
  const keys = sliceRows(collected, from, end).map(({ sk }) => sk);
  if (cells.size > 0 && start >= from) keys.push(start);
  const states = await readStates(owner, keys, pace.retry);
  await pace.spend(keys.length);
  yield [...states.values()].filter((row) => group === undefined || rowGroups(row).includes(group));
}
