import { type LabelOwner, latest } from "../tree/counted-list.ts";
import { readRoot } from "../tree/tree-store.ts";
import type { MaintainedTree } from "./maintained-tree.ts";
import { setRows } from "./set-rows.ts";

/** The work on the tree of a label. */
export interface LabelTreeState {
  /** Whether something is left for another step. */
  readonly more: boolean;
  /** The sort keys of changed rows that are or were in the label and are not counted yet, in the order of the stream. */
  readonly changed: readonly string[];
}

/**
 * One step of the tree of a label, with one commit: sets the changed rows that the tree must have, as they are in the
 * table. It commits even if no count differs, so that a feed fails that read a row before its change.
 *
 * @param fed that of the list, read after the commit of the list for these rows
 * @throws TreeChangedError when another commit came first
 * @throws DamagedTreeError when a node is not what the root says, or the root is missing
 */
export async function stepLabelTree(
  tree: MaintainedTree<LabelOwner>,
  { changed }: LabelTreeState,
  fed: string,
): Promise<LabelTreeState> {
  const root = await tree.root();
  const { account, list } = tree.owner;
  const isPast = changed.some((sk) => sk >= root.watermark && sk < fed);
  // Read after the root: where the tree was emptied, the list is no longer fed.
  const now = isPast ? await tree.context.retry(() => readRoot({ account, list })) : undefined;
  const end = latest(root.watermark, now?.fed ?? "");
  const inside = changed.filter((sk) => sk < end);
  const { left, newest = "", ...edited } = await setRows(tree, inside, []);
  const watermark = latest(root.watermark, newest && `${newest}!`);
  await tree.commit({ ...edited.root, watermark }, edited.nodes);
  return { more: left.length > 0, changed: left };
}
