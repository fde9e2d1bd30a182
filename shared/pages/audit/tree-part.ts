import type { Retry } from "../../dynamodb/retry.ts";
import { settledAll } from "../maintain/in-parallel.ts";
import { type CountedOwner, latest } from "../tree/counted-list.ts";
import { type Entry, indexAt } from "../tree/entry.ts";
import type { Root } from "../tree/root.ts";
import { damageOrChange, readNode, readRoot } from "../tree/tree-store.ts";

/** How an audit reads. */
export interface Pace {
  /** Repeats a call while the table is busy. */
  readonly retry: Retry;
  /** Called with the read units of each call; waits when they were too many. */
  readonly spend: (units: number) => Promise<void>;
  readonly wait: (milliseconds: number) => Promise<unknown>;
}

/** A row that a tree counts. */
export interface TreeRow {
  readonly sk: string;
  readonly cell: number;
}

/** Rows of a tree that follow each other. */
export interface TreePart {
  /** Under which they were read; undefined without a tree. */
  readonly root: Root | undefined;
  readonly rows: readonly TreeRow[];
  /** These are all rows of the tree from the start of the part to this sort key; undefined for its last part. */
  readonly end: string | undefined;
}

/**
 * Reads the rows of a tree from a sort key on, to another one or somewhat further, at most those of the nodes under one
 * parent. All that is read is consistent with one root.
 *
 * @throws DamagedTreeError when a node is missing, or is not what the root says
 * @throws TreeChangedError when that is so because a commit came first
 */
export async function readTreePart(
  owner: CountedOwner,
  start: string,
  until: string | undefined,
  pace: Pace,
): Promise<TreePart> {
  const { retry } = pace;
  const root = await retry(() => readRoot(owner));
  await pace.spend(1);
  if (!root) return { root, rows: [], end: undefined };
  const outOfOrder = (place: string) =>
    damageOrChange(owner, root, `The rows ${place} are out of order.`, retry);
  if (root.entries.length === 0 || start >= root.lastStart) {
    if (!areRows(root.last, root.lastStart, root.watermark)) throw await outOfOrder("at the end of the tree");
    return { root, rows: rowsFrom(root.last, start), end: undefined };
  }
  let { entries } = root;
  let end = root.lastStart;
  for (let level = root.level; level > 1; level--) {
    const index = indexAt(entries, start);
    end = entries[index + 1]?.start ?? end;
    entries = await readNode(owner, root, level, entries[index] as Entry, retry);
    await pace.spend(1);
  }
  const first = indexAt(entries, start);
  const isNeeded = (entry: Entry) => until === undefined || entry.start < until;
  const needed = entries.slice(first).filter((entry, index) => index === 0 || isNeeded(entry));
  const nodes = await settledAll(needed.map((entry) => readNode(owner, root, 1, entry, retry)));
  await pace.spend(nodes.length);
  end = entries[first + nodes.length]?.start ?? end;
  const rows = nodes.flat();
  if (!areRows(rows, needed[0]?.start ?? "", end)) throw await outOfOrder(`from ${start} on`);
  return { root, rows: rowsFrom(rows, start), end };
}

/** Whether entries are rows between two sort keys, in order. */
function areRows(entries: readonly Entry[], from: string, to: string): boolean {
  const isRow = ({ cells }: Entry) => cells.reduce((sum, count) => sum + count, 0) === 1;
  const isSorted = entries.every(
    ({ start }, index) => index === 0 || (entries[index - 1]?.start ?? "") < start,
  );
  const [first, last] = [entries[0], entries.at(-1)];
  return isSorted && entries.every(isRow) && (!first || (first.start >= from && (last?.start ?? "") < to));
}

const rowsFrom = (entries: readonly Entry[], from: string): TreeRow[] =>
  entries.flatMap(({ start, cells }) => (start < from ? [] : { sk: start, cell: cells.length - 1 }));

/**
 * Before which sort key the tree of a list or a sublist must have all rows, except those whose change is on its way.
 *
 * @param fed that of the list
 */
export function countedBefore({ origin }: CountedOwner, root: Root | undefined, fed: string): string {
  const watermark = root?.watermark ?? "";
  // A tree that is filled has no row past its watermark yet.
  return origin !== undefined && root?.filling === undefined ? latest(watermark, fed) : watermark;
}
