import { type CountedOwner, earliest, keyAt, latest } from "../tree/counted-list.ts";
import { emptyRoot, type Root } from "../tree/root.ts";
import { type CountedRow, type Rows, readRows, readStates } from "../tree/rows.ts";
import { commit, readRoot } from "../tree/tree-store.ts";
import { editTree, type Means, readPaths } from "./tree-edit.ts";

/** What a list is like after a step, and what is left to do. */
export interface Progress {
  readonly root: Root;
  /** The changed rows that are not counted yet, in their order. */
  readonly rest: readonly string[];
  /** Whether rows that are old enough have not been counted, so that another step pays. */
  readonly more: boolean;
  /** Whether counting pays as soon as the newest rows are old enough. */
  readonly young: boolean;
  /** The sort key of the newest row that was read; undefined without any. */
  readonly newest: string | undefined;
}

/**
 * One step of the tree of a whole list, with one commit at most: sets changed rows as they are in the table, and counts
 * the rows of the tail that are old enough. So changes may come twice, late and in any order.
 *
 * It commits for a changed row even if no count differs: so the commit of a slower maintainer, which read the row before
 * its change, fails. Nobody has read a row that is younger than the allowed lateness, within the skew of the clocks.
 *
 * @param changed the sort keys of rows that were changed, deleted or back-dated, in the order of the stream
 * @throws TreeChangedError when another commit came first
 * @throws DamagedTreeError when a node is not what the root says
 */
export async function advance(
  owner: CountedOwner,
  changed: readonly string[],
  means: Means,
): Promise<Progress> {
  const { limits, retry } = means;
  let root = (await retry(() => readRoot(owner))) ?? emptyRoot(Date.now());
  if (root.expiresAt !== undefined) {
    // The root of an erased account's list counts no rows, and stays as it is until the list has some again.
    const { rows } = await retry(() => readRows(owner, { start: "", maxRows: 1 }));
    if (rows.length === 0) return { root, rest: [], more: false, young: false, newest: undefined };
    const revived = { ...root, expiresAt: undefined };
    root = await retry(() => commit(owner, revived));
  }
  // Not earlier: the watermark of another commit would seem to lie in the future.
  const clock = Date.now();
  const horizon = keyAt(owner.list, clock - limits.allowedLateness);
  const furthest = keyAt(owner.list, clock - limits.allowedLateness + limits.skew);
  if (root.watermark > furthest && root.watermark > root.lastStart) {
    // A clock that was far ahead set it. Readers may remember rows that were changed while they were not in the tail.
    const back = { watermark: root.lastStart, last: [], changedAt: raised(root, clock) };
    const now = await retry(() => commit(owner, { ...root, ...back }));
    return { root: now, rest: changed, more: true, young: false, newest: undefined };
  }
  const tail = await retry(() => readRows(owner, { start: root.watermark, maxRows: limits.rowsAtOnce }));
  const settled = tail.rows.filter(({ sk }) => sk < horizon);
  const inside = changed.filter((sk) => sk < root.watermark);
  const mayBeKnown = changed.some((sk) => sk >= root.watermark && sk < furthest);
  const isLong = tail.rows.length > limits.tail || tail.units > limits.tailUnits;
  const newest = tail.next ?? tail.rows.at(-1)?.sk;
  const young = isLong && settled.length < tail.rows.length;
  if (inside.length === 0 && !mayBeKnown && (settled.length === 0 || !isLong))
    return { root, rest: [], more: false, young, newest };
  const first = [...new Set(inside.slice(0, limits.rowsAtOnce))].sort();
  const added = first.length + settled.length;
  const { paths, reached } = await readPaths(owner, root, first, added, means);
  const states = await readStates(owner, reached, retry);
  const edits = reached.map((sk) => ({ sk, cell: states.get(sk)?.cell }));
  const next = reached.length === first.length ? settled : [];
  const edited = editTree(root, paths, [...edits, ...next], limits);
  const done = new Set(reached.slice(0, edited.used));
  const changedRows = [...done].flatMap((sk) => states.get(sk) ?? []);
  const counted = settled.slice(0, Math.max(0, edited.used - reached.length));
  const end = settled[counted.length]?.sk ?? earliest(tail.next ?? horizon, horizon);
  const now = await retry(() =>
    commit(
      owner,
      {
        ...edited.root,
        watermark: latest(root.watermark, end),
        // Rows before the watermark that came late are not in their sublists either.
        unfed: (root.unfed ?? 0) + weigh([...changedRows, ...counted], tail, root.fed),
        changedAt: mayBeKnown ? raised(root, clock) : root.changedAt,
      },
      edited.nodes,
    ),
  );
  const isWhole = counted.length === settled.length;
  const more = !isWhole || (tail.next !== undefined && settled.length === tail.rows.length);
  return { root: now, rest: inside.filter((sk) => !done.has(sk)), more, young, newest };
}

/** The time of a change of the tail: it increases strictly. */
const raised = ({ changedAt = 0 }: Root, clock: number) => Math.max(clock, changedAt + 1);

/** The number of rows that the sublists do not have yet, each of them once for every KB, as lists read them. */
export function weigh(rows: readonly CountedRow[], { rows: read, units }: Rows, fed = ""): number {
  // A read unit is 4 KB.
  const weight = Math.max(1, (4 * units) / Math.max(1, read.length));
  return Math.ceil(weight * rows.filter(({ sk }) => sk >= fed).length);
}
