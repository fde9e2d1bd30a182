import { type CountedOwner, latest, type SublistOwner } from "../tree/counted-list.ts";
import { emptyRoot, type Root } from "../tree/root.ts";
import { type CountedRow, readRows } from "../tree/rows.ts";
import { commit, DamagedTreeError, readRoot, TreeChangedError } from "../tree/tree-store.ts";
import { weigh } from "./advance.ts";
import { emptyTree } from "./empty-tree.ts";
import { inParallel } from "./in-parallel.ts";
import { isSame, type Means, setRows } from "./tree-edit.ts";

/** What is left after a feed. */
export interface Fed {
  /** Whether more rows can be fed. */
  readonly more: boolean;
  /** The sublists whose trees have to be filled. */
  readonly filling: readonly SublistOwner[];
}

/**
 * Sets the counted rows of a list in the trees of their sublists, when that pays. They are read from the table,
 * consistently: no index is trusted.
 *
 * @throws TreeChangedError when another commit came first
 */
export async function feed(owner: CountedOwner, means: Means): Promise<Fed> {
  const { limits, retry } = means;
  const root = await retry(() => readRoot(owner));
  const { fed = "", unfed = 0, lookAt = limits.sublistRows } = root ?? {};
  if (!root || unfed < lookAt || fed >= root.watermark) return { more: false, filling: [] };
  const bounds = { start: fed, end: root.watermark, maxRows: limits.fedRows };
  const read = await retry(() => readRows(owner, bounds));
  const { rows, next } = read;
  const sublists = partition(owner, rows);
  const pays = (rows: readonly CountedRow[]) => weigh(rows, read) >= limits.sublistRows;
  if (next === undefined && weigh(rows, read) < limits.fedRows && !sublists.some(({ rows }) => pays(rows))) {
    const due = Math.max(limits.fedRows, unfed + limits.sublistRows);
    await retry(() => commit(owner, { ...root, lookAt: Math.min(2 * unfed, due) }));
    return { more: false, filling: [] };
  }
  const roots = new Map<SublistOwner, Root | undefined>();
  await inParallel(sublists, async ({ owner }) => roots.set(owner, await retry(() => readRoot(owner))));
  // The change of a row that was counted since would find the roots as they were read, and the row in no tree.
  const now = await retry(() => readRoot(owner));
  if (now?.version !== root.version) throw new TreeChangedError("Another commit came first.");
  const end = next ?? root.watermark;
  const filling: SublistOwner[] = [];
  await inParallel(sublists, async ({ owner, rows }) => {
    const complete = await feedSublist(owner, roots.get(owner), { rows, end }, means);
    if (!complete) filling.push(owner);
  });
  const left = next === undefined ? 0 : Math.max(limits.sublistRows, unfed - weigh(rows, read));
  await retry(() => commit(owner, { ...root, fed: end, unfed: left, lookAt: undefined }));
  return { more: next !== undefined, filling };
}

/** The sublists of rows. */
function partition({ account, list }: CountedOwner, rows: readonly CountedRow[]) {
  const byOrigin = Map.groupBy(rows, ({ origin }) => origin);
  return [...byOrigin].flatMap(([origin, rows]) =>
    origin === undefined ? [] : { owner: { account, list, origin } satisfies SublistOwner, rows },
  );
}

/** Sets rows in the tree of a sublist, which then has all rows before the end. @returns false if the tree has to be filled */
async function feedSublist(
  owner: SublistOwner,
  root: Root | undefined,
  { rows, end }: { readonly rows: readonly CountedRow[]; readonly end: string },
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
