import type { Retry } from "../../dynamodb/retry.ts";
import { emptied, emptyRoot } from "../tree/root.ts";
import {
  DamagedTreeError,
  logDamage,
  readRoot,
  replaceDamaged,
  TreeChangedError,
} from "../tree/tree-store.ts";

/**
 * Replaces a damaged tree by an empty one, which is then counted again. Lists stay exact meanwhile: to them, all rows are
 * the tail. If the tree is of a label, `fed` of its list is also set back, so that the list is fed again from its first row.
 * A feed that is under way fails, because it commits the root of the list after this commit.
 *
 * @throws TreeChangedError when another commit came first, or when the root of the list is also invalid: the list's tree is
 *   then emptied instead
 */
export async function emptyTree(error: DamagedTreeError, { retry }: { retry: Retry }): Promise<void> {
  const { owner, root } = error;
  const { account, list, labelKey } = owner;
  const emptyList = async (ofList: unknown) => {
    if (!(ofList instanceof DamagedTreeError)) throw ofList;
    await emptyTree(ofList, { retry });
    throw new TreeChangedError("The tree of the list was emptied first.");
  };
  logDamage(error);
  const clock = Date.now();
  const empty = root ? emptied(root, clock) : emptyRoot(clock);
  if (labelKey === undefined) {
    await retry(() => replaceDamaged(error, empty));
    return;
  }
  const whole = (await retry(() => readRoot({ account, list })).catch(emptyList)) ?? emptyRoot(clock);
  await retry(() => replaceDamaged(error, empty, { ...whole, fed: undefined }));
}
