import { rowKey } from "../dynamodb/keys.ts";
import { type Item, readItems } from "../dynamodb/table-client.ts";
import { whileChanged } from "./counted-page.ts";
import { findKey, readBelow, type TreeReading } from "./find-row.ts";
import {
  type Group,
  type GroupReading,
  type GroupStart,
  groupTree,
  isMatch,
  readGroupStart,
  readMatching,
} from "./group-start.ts";
import type { Page, PageRequest } from "./page.ts";
import type { Found } from "./plain-page.ts";
import { rangeId, walk } from "./range.ts";
import { type AdmitLongList, withinBudget } from "./read-budget.ts";
import { countRows } from "./tree/cells.ts";
import type { Entry } from "./tree/entry.ts";
import type { Root } from "./tree/root.ts";
import type { Window } from "./window.ts";

/**
 * From this share of a lead's rows on, those of a group are read with the rows between them. A row costs half a read unit
 * by its key, as much as 12 rows of a range: so it costs half as much, or as much if the rows lie twice as far apart here
 * as elsewhere.
 */
const nearShare = 1 / 6;

/**
 * A page of the rows of a lead or of an e-mail address that match a filter, newest first, and the exact total. No index
 * has such a list. If there are so many rows that they have a tree, its groups have the keys of the rows.
 *
 * @throws TooExpensiveError when the list would need too many calls or too much time
 */
export function groupPage<T>(
  group: Group,
  request: PageRequest,
  toRecord: (item: Item) => T,
  admitLongList?: AdmitLongList,
): Promise<Page<T>> {
  return withinBudget(rangeId(group.owner.sublist), admitLongList, async (call) => {
    const reading = { ...group, call };
    const { items, total } = await whileChanged(async (lastAttempt) => {
      const found = await findPage(reading, request);
      return found === "changed" && lastAttempt ? slicePage(await readMatching(reading), request) : found;
    });
    return { data: items.map(toRecord), pagination: { ...request, total } };
  });
}

async function findPage(reading: GroupReading, request: PageRequest): Promise<Found | "changed"> {
  const start = await readGroupStart(reading);
  if (start === "changed") return start;
  const { tail, counted } = start;
  const { items, total: uncounted } = slicePage(tail, request);
  if (!counted) return { items, total: uncounted };
  const { root, share } = counted;
  const { call } = reading;
  const tree: TreeReading = { tree: groupTree(reading), call, lastAttempt: false, nodes: new Map() };
  const ranks = await windowRanks(tree, counted, reading.window);
  if (!ranks) return "changed";
  const [first, end] = ranks;
  const total = Math.max(0, end - first) + uncounted;
  const offset = (request.page - 1) * request.limit;
  const newestRank = end - 1 - Math.max(0, offset - uncounted);
  const oldestRank = Math.max(first, newestRank - (request.limit - items.length) + 1);
  if (oldestRank > newestRank) return { items, total };
  const keys = await findKeys(tree, root, [oldestRank, newestRank]);
  if (!keys) return "changed";
  return { items: [...items, ...(await readKeys(reading, keys, share))], total };
}

/** A page of rows that have all been read. */
function slicePage(rows: readonly Item[], { page, limit }: PageRequest): Found {
  return { items: rows.slice((page - 1) * limit, page * limit), total: rows.length };
}

/** The ranks between which a window has its rows. @returns undefined when the tree has changed */
async function windowRanks(
  tree: TreeReading,
  { root, rows }: NonNullable<GroupStart["counted"]>,
  { from, before }: Window,
): Promise<readonly [number, number] | undefined> {
  const count = ({ cells }: Entry) => countRows(cells);
  const rankOf = async (key: string | undefined, unbounded: number) =>
    key === undefined ? unbounded : (await findKey(tree, { root, count }, key))?.rank;
  const [first, end] = await Promise.all([rankOf(from, 0), rankOf(before, rows)]);
  return first === undefined || end === undefined ? undefined : [first, end];
}

/** The keys of rows by their ranks, which count from the oldest row. @returns undefined when the tree has changed */
async function findKeys(
  tree: TreeReading,
  root: Root,
  ranks: readonly [number, number],
): Promise<readonly string[] | undefined> {
  const find = async (
    entries: readonly Entry[],
    level: number,
    [from, to]: readonly [number, number],
  ): Promise<readonly string[]> => {
    let before = 0;
    const found: Promise<readonly string[]>[] = [];
    for (const entry of entries) {
      const rows = countRows(entry.cells);
      if (before + rows > from && before <= to) found.push(below(entry, level, [from - before, to - before]));
      before += rows;
    }
    return (await Promise.all(found)).flat();
  };
  let changed = false;
  const below = async (entry: Entry, level: number, ranks: readonly [number, number]) => {
    if (level === 0) return [entry.start];
    const node = await readBelow(tree, root, level, entry);
    changed ||= !node;
    return find(node ?? [], level - 1, ranks);
  };
  const keys = await find(root.entries, root.level, ranks);
  return changed ? undefined : keys;
}

/**
 * Reads the rows of keys, newest first: if they are near each other, with the rows between them.
 *
 * @param share how many of the lead's rows are in the group, as a fraction
 */
async function readKeys(
  reading: GroupReading,
  keys: readonly string[],
  share: number,
): Promise<readonly Item[]> {
  const { owner, call } = reading;
  const { account, list } = owner;
  const missing = new Set(keys);
  const items: Item[] = [];
  const add = (found: readonly Item[]) => {
    for (const item of found) if (missing.delete(String(item.sk))) items.push(item);
  };
  // No sort key lies between one and the same with a "!" after it.
  const bounds = { before: `${keys.at(-1)}!`, downTo: keys[0] };
  if (share >= nearShare) {
    // Half more than are expected up to the last of them. Those that are not among them are read by their keys.
    const maxRows = Math.ceil((1.5 * keys.length) / share);
    const near = await walk(owner.sublist, { ...bounds, maxRows }, call);
    add(near.items);
    // Rows that are gone from the index are gone.
    if (near.done) missing.clear();
  }
  if (missing.size > 0) {
    const tableKeys = Array.from(missing, (sk) => rowKey(list.type, account, sk));
    add(await call((options) => readItems(tableKeys, false, options)));
  }
  return items.filter(isMatch(reading)).sort((a, b) => (String(a.sk) < String(b.sk) ? 1 : -1));
}
