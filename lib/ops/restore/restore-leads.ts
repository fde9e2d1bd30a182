import { leadItem, toLead } from "../../../shared/domain/leads.ts";
import { conversationKey, listPartition } from "../../../shared/dynamodb/keys.ts";
import type { Item } from "../../../shared/dynamodb/table-client.ts";
import { longestWrite } from "../erasure/erase-leads.ts";
import { isErased, isNotErased } from "../erasure/erased-leads.ts";
import { readLeadConversations } from "../erasure/lead-items.ts";
import { forEachAtRate } from "../import-export/for-each-at-rate.ts";
import { toChanges } from "./changes.ts";
import { compareConversation } from "./compare-conversation.ts";
import { type Pair, readPair, readPairs, targetOf, whileItChanges } from "./pairs.ts";
import { parallel, type Restoration } from "./restoration.ts";

/** How many leads are deleted before it waits for requests that had found them. */
const batchSize = 5000;

/** Creates and replaces the leads of an account. @returns whether there are others that should not exist */
export async function restoreLeads(restoration: Restoration): Promise<boolean> {
  const { account, erased, unmet, make, onRows } = restoration;
  let hasOthers = false;
  await forEachAtRate(readLeads(restoration), { parallel }, async (pair) => {
    const { key, backup, live } = pair;
    onRows(1);
    if (erased.has(key.sk)) {
      if (!live) return;
      unmet.delete(key.sk);
      await whileItChanges(restoration, pair, (current) => make(toChanges(key, current.live, undefined)));
    } else if (backup) {
      const target = { ...backup, ...leadItem(account, toLead(backup)) };
      await makeLead(restoration, pair, () => target);
    } else if (live && !targetOf(restoration, pair)) hasOthers = true;
  });
  return hasOthers;
}

/** Makes a lead what it should be, unless it is missing because it was erased since. */
const makeLead = (
  restoration: Restoration,
  pair: Pair,
  toTarget: (live: Item | undefined) => Item | undefined,
) =>
  whileItChanges(restoration, pair, async (current) => {
    const { account, make } = restoration;
    const { key, live } = current;
    if (live) return make(toChanges(key, live, toTarget(live)));
    // It is read again after a check did not hold.
    if (current !== pair && (await isErased(account, key.sk))) return;
    await make(toChanges(key, live, toTarget(live)), [isNotErased(account, key.sk)]);
  });

/** Deletes the leads of an account that should not exist, but those with conversations that stay. */
export async function deleteOtherLeads(restoration: Restoration): Promise<void> {
  let batch: Pair[] = [];
  for await (const pair of readLeads(restoration)) {
    if (targetOf(restoration, pair) || restoration.erased.has(pair.key.sk)) continue;
    batch.push(pair);
    if (batch.length < batchSize) continue;
    await deleteLeads(restoration, batch);
    batch = [];
  }
  await deleteLeads(restoration, batch);
}

/** Deletes leads together: each wait is as long for one as for thousands. */
async function deleteLeads(restoration: Restoration, batch: readonly Pair[]): Promise<void> {
  const { wait, dryRun, make } = restoration;
  const deleted: Pair[] = [];
  await forEachAtOnce(batch, async (pair) => {
    if (await hasConversations(restoration, pair.key.sk)) return;
    await whileItChanges(restoration, pair, ({ key, live }) => make(toChanges(key, live, undefined)));
    deleted.push(pair);
  });
  if (dryRun || deleted.length === 0) return;
  await wait(longestWrite);
  await forEachAtOnce(deleted, async ({ key, live: lead }) => {
    // A request that had found the lead may have started a conversation, which needs it.
    if (await hasConversations(restoration, key.sk))
      await makeLead(restoration, { key }, (live) => live ?? lead);
  });
}

/** Whether a lead has conversations in the end. */
async function hasConversations(restoration: Restoration, leadId: string): Promise<boolean> {
  const { account, pace } = restoration;
  for (const { sk } of await readLeadConversations(account, leadId, pace)) {
    const pair = await readPair(restoration, conversationKey(account, String(sk)));
    if ((await compareConversation(restoration, pair)).target) return true;
  }
  return false;
}

const readLeads = (restoration: Restoration) =>
  readPairs(restoration, listPartition("lead", restoration.account));

const forEachAtOnce = (pairs: readonly Pair[], work: (pair: Pair) => Promise<void>) =>
  forEachAtRate(pairs.values(), { parallel }, work);
