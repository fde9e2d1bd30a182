import { leadKey } from "../../../shared/dynamodb/keys.ts";
import { limits } from "../../../shared/pages/tree/tree-limits.ts";
import type { Pace, Wait } from "../common/pace.ts";
import { deleteItems } from "../common/write-items.ts";
import { longestWrite } from "./erase-leads.ts";
import { readErasedIds } from "./erased-leads.ts";
import { sweepLead } from "./sweep-lead.ts";

/** Until all writes that had found a lead have ended, and the indexes list what was stored, in milliseconds. */
const sweepDelay = Math.max(longestWrite, limits.indexLateness + limits.skew + 1);

/**
 * Deletes what an import or a restore has stored of erased leads: this one before the lead was erased, or one that ended
 * early. If there are such leads, it deletes them first, and what belongs to them 32 seconds later.
 *
 * @param unmet the leads that were erased before, and of which it has met nothing
 */
export async function sweepErasedSince(
  account: string,
  unmet: ReadonlySet<string>,
  { pace, wait }: { readonly pace: Pace; readonly wait: Wait },
): Promise<void> {
  const erased = [...(await readErasedIds(account, pace))].filter((id) => !unmet.has(id));
  if (erased.length === 0) return;
  await deleteItems(
    erased.map((id) => leadKey(account, id)),
    pace,
  );
  await wait(sweepDelay);
  for (const id of erased) await sweepLead(account, id, pace);
}
