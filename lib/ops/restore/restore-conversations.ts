import { listPartition, messageKey } from "../../../shared/dynamodb/keys.ts";
import { forEachAtRate } from "../import-export/for-each-at-rate.ts";
import { toChanges } from "./changes.ts";
import { compareConversation } from "./compare-conversation.ts";
import { type Pair, readPair, readPairs, whileItChanges } from "./pairs.ts";
import { parallel, type Restoration } from "./restoration.ts";

/** Restores the conversations of an account, with their messages and pointers. Its leads were restored before. */
export const restoreConversations = (restoration: Restoration): Promise<void> =>
  forEachAtRate(
    readPairs(restoration, listPartition("conversation", restoration.account)),
    { parallel },
    (pair) => {
      restoration.onRows(1);
      const leadId = String((pair.backup ?? pair.live)?.leadId);
      return restoration.erased.has(leadId)
        ? eraseConversation(restoration, pair, leadId)
        : whileItChanges(restoration, pair, (current) => restoreConversation(restoration, current));
    },
  );

/** A message is written before its conversation, and deleted before it: what is left to do is found by conversations. */
async function restoreConversation(restoration: Restoration, pair: Pair): Promise<void> {
  const { changes, checks, first } = await compareConversation(restoration, pair, restoration.make);
  if (restoration.dryRun) {
    // A message may have come since the conversation was read.
    const again = changes.length > 0 && (await readPair(restoration, pair.key));
    return again ? restoration.make((await compareConversation(restoration, again)).changes) : undefined;
  }
  if (!first) return restoration.make(changes, checks);
  await whileItChanges(restoration, first, (current) => restoreConversation(restoration, current));
  await restoreConversation(restoration, pair);
}

/** Erases what an earlier run may have restored of a lead that was erased meanwhile: a conversation waits for the sweep. */
async function eraseConversation(
  restoration: Restoration,
  { key, live }: Pair,
  leadId: string,
): Promise<void> {
  const { account, unmet, dryRun, make } = restoration;
  if (live) {
    unmet.delete(leadId);
    return dryRun ? make([{ key, live }]) : undefined;
  }
  for await (const message of readPairs(restoration, messageKey(account, key.sk, "").pk))
    await whileItChanges(restoration, message, (current) =>
      make(toChanges(current.key, current.live, undefined)),
    );
}
