import type { Pace } from "../pace.ts";
import { readErasedIds } from "./erased-leads.ts";
import { sweepLead } from "./sweep-lead.ts";

/**
 * Deletes what imports have stored of erased leads: this one before the lead was erased, or one that ended early.
 *
 * @param known the leads that were erased before this import, and of which it has met nothing
 * @param waitForIndexes called once if there is something to delete: the indexes may not list what was just stored
 */
export async function sweepErasedSince(
  account: string,
  known: ReadonlySet<string>,
  pace: Pace,
  waitForIndexes: () => Promise<unknown> = async () => {},
): Promise<void> {
  const erased = [...(await readErasedIds(account, pace))].filter((id) => !known.has(id));
  if (erased.length > 0) await waitForIndexes();
  for (const id of erased) await sweepLead(account, id, pace);
}
