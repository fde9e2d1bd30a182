import type { Retry } from "../../dynamodb/retry.ts";
import * as logEvents from "../../logging/log-events.ts";
import type { CountedOwner } from "../tree/counted-list.ts";
import { emptied, emptyRoot } from "../tree/root.ts";
import { commit, type DamagedTreeError, treeKey } from "../tree/tree-store.ts";

/**
 * Replaces a damaged tree by an empty one, which is then counted again. Lists stay exact meanwhile: to them, all rows are
 * the tail.
 *
 * @param filling of a sublist: all rows before this sort key have to be counted again, at least
 * @throws TreeChangedError when another commit came first
 */
export async function emptyTree(
  owner: CountedOwner,
  { root, message }: DamagedTreeError,
  { retry }: { readonly retry: Retry },
  filling = "",
): Promise<void> {
  const { account, list, sublist } = owner;
  const tree = treeKey(owner, "").pk;
  console.error({ event: logEvents.countsDamaged, account, list: list.type, tree, message });
  const clock = Date.now();
  const empty = root ? emptied(root, clock) : emptyRoot(clock);
  await retry(() => commit(owner, sublist ? { ...empty, filling } : empty, [], { renews: true }));
}
