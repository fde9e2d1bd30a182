import type { Pace } from "../../dynamodb/pace.ts";
import { settledAll } from "../../in-parallel.ts";
import type { CountedOwner } from "../tree/counted-list.ts";
import { countEntries, type Entry, indexAt, rowCell } from "../tree/entry.ts";
import type { Root } from "../tree/root.ts";
import { damageOrChange, readNode, readRoot } from "../tree/tree-store.ts";

/** From a sort key to before another one, or to the end. */
export interface KeyRange {
  readonly start: string;
  readonly until: string | undefined;
}

/**
 * Reads the rows of a tree in a range, or the first of them: those of the nodes under one parent. All that is read is
 * consistent with one root.
 *
 * @returns the root, undefined without a tree; the cells of the rows, by their sort keys; and where the rest of the range
 *   begins, undefined if nothing is left
 * @throws DamagedTreeError when a node is missing, or is not what the root says
 * @throws TreeChangedError when that is so because a commit came first
 */
export async function readTreePart(owner: CountedOwner, range: KeyRange, pace: Pace) {
  const { start, until } = range;
  const root = await pace.retry(() => readRoot(owner));
  await pace.spend(1);
  if (!root) return { root, rows: new Map<string, number>(), end: undefined };
  const isInNodes = root.entries.length > 0 && start < root.lastStart;
  const last = { entries: root.last, from: root.lastStart, to: root.watermark };
  const { entries, from, to } = isInNodes ? await readNodes(owner, root, range, pace) : last;
  const rows = toRows(entries, from, to);
  if (!rows) {
    const place = isInNodes ? `from ${start} on` : "at the end of the tree";
    throw await damageOrChange(owner, root, `The rows ${place} are out of order.`, pace.retry);
  }
  for (const sk of rows.keys()) if (sk < start || (until !== undefined && sk >= until)) rows.delete(sk);
  const isEnd = !isInNodes || (until !== undefined && until <= to);
  return { root, rows, end: isEnd ? undefined : to };
}

/** Reads the nodes of rows of a range, those under one parent. @returns their entries, and where these begin and end */
async function readNodes(owner: CountedOwner, root: Root, { start, until }: KeyRange, pace: Pace) {
  let { entries, lastStart: to } = root;
  for (let level = root.level; level > 1; level--) {
    const index = indexAt(entries, start);
    to = entries[index + 1]?.start ?? to;
    entries = await readNode(owner, root, level, entries[index] as Entry, pace.retry);
    await pace.spend(1);
  }
  const first = indexAt(entries, start);
  const needed = entries.slice(first).filter((entry) => until === undefined || entry.start < until);
  const nodes = await settledAll(needed.map((entry) => readNode(owner, root, 1, entry, pace.retry)));
  await pace.spend(nodes.length);
  const from = needed[0]?.start ?? "";
  return { entries: nodes.flat(), from, to: entries[first + nodes.length]?.start ?? to };
}

/** The rows that entries are; undefined if one is not a row, or if they are not in order, between two sort keys. */
function toRows(entries: readonly Entry[], from: string, to: string): Map<string, number> | undefined {
  const rows = new Map<string, number>();
  let before: string | undefined;
  for (const entry of entries) {
    const { start } = entry;
    const isInOrder = start >= from && start < to && (before === undefined || start > before);
    if (countEntries([entry]) !== 1 || !isInOrder) return undefined;
    rows.set(start, rowCell(entry));
    before = start;
  }
  return rows;
}
