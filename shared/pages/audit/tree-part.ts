import type { Pace } from "../../dynamodb/pace.ts";
import { settledAll } from "../../in-parallel.ts";
import type { CountedOwner } from "../tree/counted-list.ts";
import { type Entry, indexAt, placeAt, rowCell } from "../tree/entry.ts";
import type { Root } from "../tree/root.ts";
import { readNode, readRoot } from "../tree/tree-store.ts";

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
  const { entries, end } = isInNodes
    ? await readNodes(owner, root, range, pace)
    : { entries: root.last, end: undefined };
  const isWithin = ({ start: sk }: Entry) => sk >= start && (until === undefined || sk < until);
  const rows = new Map(entries.filter(isWithin).map((entry) => [entry.start, rowCell(entry)]));
  const isEnd = end === undefined || (until !== undefined && until <= end);
  return { root, rows, end: isEnd ? undefined : end };
}

/** Reads the nodes of rows of a range, those under one parent. @returns their entries, and where these end */
async function readNodes(owner: CountedOwner, root: Root, { start, until }: KeyRange, pace: Pace) {
  let { entries, lastStart: end } = root;
  for (let level = root.level; level > 1; level--) {
    const place = placeAt(entries, indexAt(entries, start), end);
    end = place.end;
    entries = await readNode(owner, root, level, place, pace.retry);
    await pace.spend(1);
  }
  const places = entries.map((_, index) => placeAt(entries, index, end));
  const needed = places
    .slice(indexAt(entries, start))
    .filter(({ entry }) => until === undefined || entry.start < until);
  const nodes = await settledAll(needed.map((place) => readNode(owner, root, 1, place, pace.retry)));
  await pace.spend(nodes.length);
  return { entries: nodes.flat(), end: needed.at(-1)?.end ?? end };
}
