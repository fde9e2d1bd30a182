import { keyAt, latest, type SublistOwner } from "../tree/counted-list.ts";
import { emptyRoot } from "../tree/root.ts";
import { readRows, readStates } from "../tree/rows.ts";
import { commit, readRoot } from "../tree/tree-store.ts";
import { editTree, hasRow, type Means, readPaths, setRows } from "./tree-edit.ts";

/** Rows that are or were in a sublist, by their sort keys, in the order of the stream. */
export interface SublistRows {
  /** Those that were changed, deleted or back-dated. */
  readonly changed: readonly string[];
  /** Those that a route created, but that should be in the tree already. */
  readonly created: readonly string[];
}

/**
 * One step of the tree of a sublist, with one commit at most: sets the rows that the tree must have, as they are in the
 * table. A later one only raises the version, so that a feed fails that read the row before its change.
 *
 * @param fed that of the list, read after the commit of the list for these rows
 * @returns the rows that are left
 * @throws TreeChangedError when another commit came first
 * @throws DamagedTreeError when a node is not what the root says, or the root is missing
 */
export async function advanceSublist(
  owner: SublistOwner,
  { changed, created }: SublistRows,
  fed: string,
  means: Means,
): Promise<SublistRows> {
  const { limits, retry } = means;
  const root = (await retry(() => readRoot(owner))) ?? emptyRoot(Date.now());
  const clock = Date.now();
  // A tree that is filled has no row past its watermark yet.
  const end = root.filling === undefined ? latest(root.watermark, fed) : root.watermark;
  const furthest = keyAt(owner.list, clock - limits.allowedLateness + limits.skew);
  const inside = changed.filter((sk) => sk < end);
  const mayBeRead = changed.some((sk) => sk >= end && sk < furthest);
  const due = created.filter((sk) => sk < end);
  if (inside.length === 0 && !mayBeRead && due.length === 0) return none;
  const first = [...new Set([...inside, ...due].slice(0, limits.rowsAtOnce))].sort();
  const { paths, reached } = await readPaths(owner, root, first, first.length, means);
  const isChanged = new Set(inside);
  const sks = reached.filter((sk) => isChanged.has(sk) || !hasRow(root, paths, sk));
  const states = await readStates(owner, sks, retry);
  const edits = sks.map((sk) => {
    const state = states.get(sk);
    return { sk, cell: state?.origin === owner.origin ? state.cell : undefined };
  });
  const edited = editTree(root, paths, edits, limits);
  const done = new Set(edited.used < sks.length ? sks.slice(0, edited.used) : reached);
  const newest = sks[edited.used - 1];
  const watermark = newest === undefined ? root.watermark : latest(root.watermark, `${newest}!`);
  if (edits.length > 0 || mayBeRead)
    await retry(() => commit(owner, { ...edited.root, watermark }, edited.nodes));
  const isLeft = (sk: string) => !done.has(sk);
  return { changed: inside.filter(isLeft), created: due.filter(isLeft) };
}

const none: SublistRows = { changed: [], created: [] };

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
