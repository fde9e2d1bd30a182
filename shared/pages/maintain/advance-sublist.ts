import { latest, type SublistOwner } from "../tree/counted-list.ts";
import { emptyRoot } from "../tree/root.ts";
import { readRows, readStates } from "../tree/rows.ts";
import { commit, readRoot } from "../tree/tree-store.ts";
import { editTree, isSame, type Means, readPaths, setRows } from "./tree-edit.ts";

/** Rows that are or were in a sublist. */
export interface SublistRows {
  /** Their sort keys, in the order of the stream. */
  readonly sks: readonly string[];
  /** Whether some were changed, deleted or back-dated: the others, which routes created, should be in the tree already. */
  readonly isChanged: boolean;
}

/**
 * One step of the tree of a sublist, with one commit at most: sets the rows that the tree must have, as they are in the
 * table. A change raises the version in any case, so that a feed fails that read the row before.
 *
 * @param fed that of the list, read after the commit of the list for these rows
 * @returns the rows that are left
 * @throws TreeChangedError when another commit came first
 * @throws DamagedTreeError when a node is not what the root says, or the root is missing
 */
export async function advanceSublist(
  owner: SublistOwner,
  { sks, isChanged }: SublistRows,
  fed: string,
  means: Means,
): Promise<readonly string[]> {
  const { limits, retry } = means;
  const root = (await retry(() => readRoot(owner))) ?? emptyRoot(Date.now());
  // A tree that is filled has no row past its watermark yet.
  const end = root.filling === undefined ? latest(root.watermark, fed) : root.watermark;
  const inside = sks.filter((sk) => sk < end);
  const first = [...new Set(inside.slice(0, limits.rowsAtOnce))].sort();
  const { paths, reached } = await readPaths(owner, root, first, first.length, means);
  const states = await readStates(owner, reached, retry);
  const edits = reached.map((sk) => {
    const state = states.get(sk);
    return { sk, cell: state?.origin === owner.origin ? state.cell : undefined };
  });
  const edited = editTree(root, paths, edits, limits);
  const done = new Set(reached.slice(0, edited.used));
  const newest = reached[edited.used - 1];
  const watermark = newest === undefined ? root.watermark : latest(root.watermark, `${newest}!`);
  if (isChanged || !isSame(root, edited))
    await retry(() => commit(owner, { ...edited.root, watermark }, edited.nodes));
  return inside.filter((sk) => !done.has(sk));
}

/**
 * One step of counting the rows of an emptied tree again, from the whole list: the index could be late.
 *
 * @returns whether it is not complete
 * @throws TreeChangedError when another commit came first
 */
export async function fill(owner: SublistOwner, means: Means): Promise<boolean> {
  const { limits, retry } = means;
  const { account, list, origin } = owner;
  const root = await retry(() => readRoot(owner));
  if (root?.filling === undefined) return false;
  // Not earlier: a feed that raises it commits to the sublist before.
  const whole = await retry(() => readRoot({ account, list }));
  const end = latest(root.filling, whole?.fed ?? "");
  const bounds = { start: root.watermark, end, maxRows: limits.fedRows };
  const { rows: all, next } = await retry(() => readRows(owner, bounds));
  const rows = all.filter((row) => row.origin === origin);
  const edited = await setRows(owner, root, rows, means);
  const stop = rows[edited.used]?.sk ?? next;
  const watermark = latest(root.watermark, stop ?? end);
  const filling = stop === undefined ? undefined : root.filling;
  await retry(() => commit(owner, { ...edited.root, watermark, filling }, edited.nodes));
  return stop !== undefined;
}
