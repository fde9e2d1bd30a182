import type { Retry } from "../../dynamodb/retry.ts";
import { latest } from "../tree/counted-list.ts";
import { emptied, emptyRoot } from "../tree/root.ts";
import { commit, type DamagedTreeError, logDamage, readSoundRoot } from "../tree/tree-store.ts";

/**
 * Replaces a damaged tree by an empty one, which is then counted again. Lists stay exact meanwhile: to them, all rows are
 * the tail.
 *
 * A feed that is under way may have set rows in the damaged tree already, and commits the list without another look: so all
 * rows that the list counts are filled in.
 *
 * @throws TreeChangedError when another commit came first
 */
export async function emptyTree(
  error: DamagedTreeError,
  { retry }: { readonly retry: Retry },
): Promise<void> {
  const { owner, root, malformed } = error;
  const { account, list, origin } = owner;
  logDamage(error);
  const clock = Date.now();
  const empty = root ? emptied(root, clock) : emptyRoot(clock);
  const whole = origin === undefined ? undefined : await retry(() => readSoundRoot({ account, list }));
  const counted = latest(whole?.watermark ?? "", whole?.fed ?? "");
  const filling = origin === undefined ? undefined : counted;
  await retry(() => commit(owner, { ...empty, filling }, [], { renews: true, malformed }));
}
