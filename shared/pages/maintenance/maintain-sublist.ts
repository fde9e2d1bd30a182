import { setTimeout } from "node:timers/promises";
import { isBusy } from "../../dynamodb/dynamodb-errors.ts";
import { type Retry, withRetry } from "../../dynamodb/retry.ts";
import type { SublistOwner } from "../tree/counted-list.ts";
import { limits as productionLimits } from "../tree/tree-limits.ts";
import { isTreeChanged } from "../tree/tree-store.ts";
import { advanceSublist, type ChangedRow, type SublistWork } from "./advance-sublist.ts";
import type { Maintenance } from "./maintain.ts";

/**
 * Updates the tree of a sublist. Each changed row is read and set by its key, so changes may come twice, late and in any
 * order. It retries until the deadline while other commits come first or the table is busy.
 *
 * @returns the changed rows that are not counted, and the error for which a retry does not help; what else there is to do
 *   can wait
 */
export async function maintainSublist(
  owner: SublistOwner,
  { changed, look }: SublistWork,
  { deadline, limits = productionLimits, wait = setTimeout }: Maintenance,
): Promise<{ readonly rest: readonly ChangedRow[]; readonly error?: unknown }> {
  const retry: Retry = (call) => withRetry(call, { deadline, isRetryable: isBusy, wait });
  const isRetryable = (error: unknown) => isTreeChanged(error) || isBusy(error);
  let rest = changed;
  let more = true;
  const update = async () => {
    ({ rest, more } = await advanceSublist(owner, { changed: rest, look }, { limits, retry }));
  };
  try {
    while (more && Date.now() < deadline) await withRetry(update, { deadline, isRetryable, wait });
  } catch (error) {
    return isRetryable(error) ? { rest } : { rest, error };
  }
  return { rest };
}
