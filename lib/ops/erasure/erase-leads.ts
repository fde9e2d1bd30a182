import type { Pace, Wait } from "../common/pace.ts";
import type { OnRows } from "../common/progress.ts";
import { beginErasure, endErasure } from "./erased-leads.ts";
import { eraseIdempotencyRecords, findIdempotencyRecords } from "./idempotency-records.ts";
import { countLeadItems, findConversationIds, type LeadItems, sweepLead } from "./sweep-lead.ts";

/**
 * How long after a request found a lead it may still write, in milliseconds: it is retried for five seconds, and no write
 * happens later than five seconds after its id was created.
 */
export const longestWrite = 11_000;

/** How leads are erased. */
interface Erasing {
  readonly pace: Pace;
  readonly wait: Wait;
  /** Whether to read the whole table for idempotency records. */
  readonly scan: boolean;
  readonly onRows: OnRows;
}

/** How many items of the leads were deleted. */
export interface ErasedItems extends LeadItems {
  readonly idempotencyRecords: number;
}

/**
 * Erases leads: no request finds them from the first step on, and when requests that had found them have ended, everything
 * that names them is deleted. What is left when this ends early is found again by their ids.
 */
export async function eraseLeads(
  account: string,
  leadIds: readonly string[],
  { pace, wait, scan, onRows }: Erasing,
): Promise<ErasedItems> {
  for (const id of leadIds) await beginErasure(account, id, pace);
  await wait(longestWrite);
  // Records name conversations, so they are deleted while it is known which those are.
  const named = await findNamed(account, leadIds, pace);
  const idempotencyRecords = scan ? await eraseIdempotencyRecords(account, named, { pace, onRows }) : 0;
  const deleted: LeadItems[] = [];
  for (const id of leadIds) deleted.push(await sweepLead(account, id, pace));
  for (const id of leadIds) await endErasure(account, id, pace);
  return { ...sumItems(deleted), idempotencyRecords };
}

/** Counts what `eraseLeads` would delete. */
export async function countErasedItems(
  account: string,
  leadIds: readonly string[],
  { pace, scan, onRows }: Omit<Erasing, "wait">,
): Promise<ErasedItems> {
  const items: LeadItems[] = [];
  for (const id of leadIds) items.push(await countLeadItems(account, id, pace));
  const named = await findNamed(account, leadIds, pace);
  const records = scan ? await findIdempotencyRecords(account, named, { pace, onRows }) : [];
  return { ...sumItems(items), idempotencyRecords: records.length };
}

/** The ids of leads and of their conversations. */
async function findNamed(account: string, leadIds: readonly string[], pace: Pace): Promise<Set<string>> {
  const named = new Set(leadIds);
  for (const id of leadIds)
    for (const conversationId of await findConversationIds(account, id, pace)) named.add(conversationId);
  return named;
}

const sumItems = (items: readonly LeadItems[]): LeadItems =>
  items.reduce(
    (sum, { conversations, messages, pointers }) => ({
      conversations: sum.conversations + conversations,
      messages: sum.messages + messages,
      pointers: sum.pointers + pointers,
    }),
    { conversations: 0, messages: 0, pointers: 0 },
  );
