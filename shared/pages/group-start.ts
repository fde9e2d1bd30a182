import type { Item } from "../dynamodb/table-client.ts";
import { type Range, readPages, type Segment, walk } from "./range.ts";
import type { Call } from "./read-budget.ts";
import { type CountedOwner, type Filter, latest, type SublistOwner } from "./tree/counted-list.ts";
import { countEntries } from "./tree/entry.ts";
import { groupName } from "./tree/groups.ts";
import { emptyRoot, type Root } from "./tree/root.ts";
import { readRoot } from "./tree/tree-store.ts";
import { isWithin, type Window } from "./window.ts";

/** How many of the newest rows are read with the root, for one read unit: most leads have fewer conversations. */
const newestRows = 20;

/** The rows of a partition of `by-parent` that match a filter and lie in a window. */
export interface Group {
  readonly owner: SublistOwner;
  readonly filter: Filter;
  readonly window: Window;
}

/** A group, and how it is read. */
export interface GroupReading extends Group {
  readonly call: Call;
}

/** What every list of a group reads first. */
export interface GroupStart {
  /** The rows that are not counted, newest first: all of them if the lead has no tree. */
  readonly tail: readonly Item[];
  /** The root of the group's tree, and which share of the lead's counted rows it has. */
  readonly counted: { readonly root: Root; readonly rows: number; readonly share: number } | undefined;
}

/** @returns `changed` when the lead's tree was replaced meanwhile */
export async function readGroupStart(reading: GroupReading): Promise<GroupStart | "changed"> {
  const { owner, call } = reading;
  const [root, newest] = await Promise.all([
    call((options) => readRoot(owner, "root", options)),
    walk(owner.sublist, { maxRows: newestRows }, call),
  ]);
  if (newest.done) return { tail: newest.items.filter(isMatch(reading)), counted: undefined };
  if (!root) return { tail: await readMatching(reading), counted: undefined };
  // After the root of the lead: so it has all rows before that root's watermark.
  const [group, tail] = await Promise.all([readGroupRoot(reading, root), readTail(reading, root, newest)]);
  if (group.generation !== root.generation) return "changed";
  const watermark = latest(group.watermark, root.watermark);
  const rows = countEntries(group.entries);
  return {
    tail: tail.filter(({ sk }) => String(sk) >= watermark),
    counted: { root: group, rows, share: rows / Math.max(1, countEntries(root.entries)) },
  };
}

/** All matching rows: the table reads all rows of the lead anyway for a range with a condition. */
export const readMatching = async (reading: GroupReading): Promise<readonly Item[]> =>
  (await walk(groupRange(reading), { maxRows: Number.POSITIVE_INFINITY }, reading.call)).items.filter(
    isMatch(reading),
  );

/** The range of a group: the table reads all rows of the lead and drops the others. */
export function groupRange({ owner: { list, sublist }, filter: { status, sourceOrChannel } }: Group): Range {
  const where = {
    ...(status !== undefined && { status }),
    ...(sourceOrChannel !== undefined && { [list.attribute]: sourceOrChannel }),
  };
  return { ...sublist, where };
}

export function isMatch(group: Group): (item: Item) => boolean {
  const conditions = Object.entries(groupRange(group).where ?? {});
  const within = isWithin(group.window);
  return (item) => within(String(item.sk)) && conditions.every(([name, value]) => item[name] === value);
}

/** The tree of a group. */
export const groupTree = ({ owner, filter }: Group): CountedOwner => ({ ...owner, group: groupName(filter) });

async function readGroupRoot(reading: GroupReading, { generation }: Root): Promise<Root> {
  const found = await reading.call((options) => readRoot(groupTree(reading), "root", options));
  // A group of an earlier generation belongs to a tree that was replaced.
  return found && found.generation >= generation ? found : emptyRoot(generation);
}

/** The matching rows at or past the watermark of a lead's tree, newest first, and perhaps some before it. */
async function readTail(
  reading: GroupReading,
  { watermark }: Root,
  newest: Segment,
): Promise<readonly Item[]> {
  const items = newest.items.filter(isMatch(reading));
  const before = String(newest.items.at(-1)?.sk ?? "");
  if (before <= watermark) return items;
  for await (const page of readPages(groupRange(reading), { before, downTo: watermark }, reading.call))
    items.push(...page.items.filter(isMatch(reading)));
  return items;
}
