import { type CountedOwner, latest, type SublistOwner } from "../tree/counted-list.ts";
import { emptyRoot, type Root } from "../tree/root.ts";
import { type CountedRow, type Rows, readRows } from "../tree/rows.ts";
import { commit, DamagedTreeError, readRoot, TreeChangedError } from "../tree/tree-store.ts";
import { emptyTree } from "./empty-tree.ts";
import { inParallel } from "./in-parallel.ts";
import { weigh } from "./list-step.ts";
import { setRows } from "./set-rows.ts";
import { isSame } from "./tree-edit.ts";
import { type Means, rootOf, type TreeState } from "./tree-steps.ts";

/** The work on the sublists of a list. */
export interface FeedState extends TreeState {
  /** The sublists whose trees have to be filled. */
  readonly filling: readonly SublistOwner[];
}

/** Rows of a sublist. */
interface SublistRows {
  readonly owner: SublistOwner;
  readonly rows: readonly CountedRow[];
}

/**
 * One step of giving sources and channels trees of their own: sets the counted rows of a list in the trees of their
 * sublists, when that pays. They are read from the table, consistently: no index is trusted.
 *
 * @throws TreeChangedError when another commit came first
 */
export async function feedSourceTrees(
  owner: CountedOwner,
  state: FeedState,
  means: Means,
): Promise<FeedState> {
  const { limits, retry } = means;
  const root = await rootOf(owner, state, means);
  const { fed = "", unfed = 0, lookAt = limits.sublistRows } = root;
  if (unfed < lookAt || fed >= root.watermark) return { root, more: false, filling: [] };
  const bounds = { start: fed, end: root.watermark, maxRows: limits.fedRows };
  const read = await retry(() => readRows(owner, bounds));
  const sublists = partition(owner, read.rows);
  if (!pays(read, sublists, means)) {
    const due = Math.max(limits.fedRows, unfed + limits.sublistRows);
    const later = { ...root, lookAt: Math.min(2 * unfed, due) };
    return { root: await retry(() => commit(owner, later)), more: false, filling: [] };
  }
  const { rows, next } = read;
  const end = next ?? root.watermark;
  const filling = await feedSublists(owner, root, { sublists, end }, means);
  const left = next === undefined ? 0 : Math.max(limits.sublistRows, unfed - weigh(rows, read));
  const committed = await retry(() => commit(owner, { ...root, fed: end, unfed: left, lookAt: undefined }));
  return { root: committed, more: next !== undefined, filling };
}

/** Whether a sublist has so many of the rows that a tree of its own pays, or all of them are so many. */
function pays(read: Rows, sublists: readonly SublistRows[], { limits }: Means): boolean {
  if (read.next !== undefined || weigh(read.rows, read) >= limits.fedRows) return true;
  return sublists.some(({ rows }) => weigh(rows, read) >= limits.sublistRows);
}

/** Sets rows that were read after the root in the trees of their sublists. @returns the sublists whose trees have to be filled */
async function feedSublists(
  owner: CountedOwner,
  { version }: Root,
  { sublists, end }: { readonly sublists: readonly SublistRows[]; readonly end: string },
  means: Means,
): Promise<readonly SublistOwner[]> {
  const { retry } = means;
  const roots = new Map<SublistOwner, Root | undefined>();
  await inParallel(sublists, async ({ owner }) => roots.set(owner, await retry(() => readRoot(owner))));
  // The change of a row that was counted since would find the roots as they were read, and the row in no tree.
  const now = await retry(() => readRoot(owner));
  if (now?.version !== version) throw new TreeChangedError("Another commit came first.");
  const filling: SublistOwner[] = [];
  await inParallel(sublists, async (sublist) => {
    const complete = await feedSublist(sublist, roots.get(sublist.owner), end, means);
    if (!complete) filling.push(sublist.owner);
  });
  return filling;
}

/** The sublists of rows. */
function partition({ account, list }: CountedOwner, rows: readonly CountedRow[]): SublistRows[] {
  const byOrigin = Map.groupBy(rows, ({ origin }) => origin);
  return [...byOrigin].flatMap(([origin, rows]) =>
    origin === undefined ? [] : { owner: { account, list, origin }, rows },
  );
}

/** Sets rows in the tree of a sublist, which then has all rows before the end. @returns false if the tree has to be filled */
async function feedSublist(
  { owner, rows }: SublistRows,
  root: Root | undefined,
  end: string,
  means: Means,
): Promise<boolean> {
  const { retry } = means;
  let tree = root ?? emptyRoot(Date.now());
  if (tree.filling !== undefined) {
    const filling = latest(tree.filling, end);
    await retry(() => commit(owner, { ...tree, filling }));
    return false;
  }
  try {
    for (let rest = rows; rest.length > 0; ) {
      const edited = await setRows(owner, tree, rest, means);
      rest = rest.slice(edited.used);
      const watermark = latest(tree.watermark, rest[0]?.sk ?? end);
      const next = { ...edited.root, watermark };
      if (!isSame(tree, edited)) tree = await retry(() => commit(owner, next, edited.nodes));
    }
    return true;
  } catch (error) {
    if (!(error instanceof DamagedTreeError)) throw error;
    await emptyTree(error, means);
    return false;
  }
}
