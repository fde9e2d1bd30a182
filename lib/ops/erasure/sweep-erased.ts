import type { Pace } from "../pace.ts";
import { readErasedIds } from "./erased-leads.ts";
import { sweepLead } from "./sweep-lead.ts";

/**
 * Deletes what an import has stored of leads that were erased while it ran.
 *
 * @param known the leads that were erased before it, of which it has stored nothing
 */
export async function sweepErasedSince(
  account: string,
  known: ReadonlySet<string>,
  pace: Pace,
): Promise<void> {
  for (const id of await readErasedIds(account, pace)) if (!known.has(id)) await sweepLead(account, id, pace);
}
