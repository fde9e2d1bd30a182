import type { CountedOwner } from "../tree/counted-list.ts";
import type { Root } from "../tree/root.ts";
import type { CountedRow } from "../tree/rows.ts";
import { type Edited, editTree, type Means, readPaths } from "./tree-edit.ts";

/** Sets rows, which are sorted, in a tree: as many of the first ones as a commit has room for. */
export async function setRows(
  owner: CountedOwner,
  root: Root,
  rows: readonly CountedRow[],
  means: Means,
): Promise<Edited> {
  const some = rows.slice(0, means.limits.rowsAtOnce);
  const sks = some.map(({ sk }) => sk);
  const { paths, reached } = await readPaths(owner, root, sks, sks.length, means);
  return editTree(root, paths, some.slice(0, reached.length), means.limits);
}
