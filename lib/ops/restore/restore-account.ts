import { findOwner, type ItemType } from "../accounts/account-items.ts";
import { readErasedIds } from "../erasure/erased-leads.ts";
import { sweepErasedSince } from "../erasure/sweep-erased.ts";
import type { Pace } from "../pace.ts";
import type { Wait } from "../retry-while-busy.ts";
import { type Change, type ChangeKind, kindOf, writeChanges } from "./changes.ts";
import type { Restoration } from "./restoration.ts";
import { restoreConversations } from "./restore-conversations.ts";
import { deleteOtherLeads, restoreLeads } from "./restore-leads.ts";

/** What is restored, by the name of its item type, and what a person calls it. */
export const restoredTypes = {
  lead: "leads",
  conversation: "conversations",
  message: "messages",
  active: "pointers",
} as const satisfies Partial<Record<ItemType, string>>;

type RestoredType = (typeof restoredTypes)[keyof typeof restoredTypes];

/** How many items were created, replaced and deleted, or would be. */
export type ChangeCounts = Readonly<Record<RestoredType, Record<ChangeKind, number>>>;

/** A change as it is listed. */
export interface ListedChange {
  readonly account: string;
  readonly change: ChangeKind;
  readonly pk: string;
  readonly sk: string;
}

/** How an account is restored. */
export interface Restoring extends Pick<Restoration, "from" | "keptFrom" | "dryRun"> {
  readonly pace: Pace;
  readonly wait: Wait;
  /** Called with the number of leads and conversations that were compared. */
  readonly onRows: Restoration["onRows"];
  /** Called with each change that was made, or would be. */
  readonly onChange: (change: ListedChange) => void;
}

/**
 * Makes the leads, conversations, messages and pointers of an account those of another table. It ends in the same state
 * however often it was ended before: what differs is found by comparison.
 */
export async function restoreAccount(account: string, restoring: Restoring): Promise<ChangeCounts> {
  const { pace, wait, dryRun, onChange } = restoring;
  const counts = noChanges();
  const make: Restoration["make"] = async (changes, checks = []) => {
    if (!dryRun) await writeChanges(changes, checks, pace);
    for (const change of changes) {
      counts[nameOf(change)][kindOf(change)] += 1;
      onChange({ account, change: kindOf(change), ...change.key });
    }
  };
  const erased = await readErasedIds(account, pace);
  const unmet = new Set(erased);
  const restoration = { ...restoring, account, erased, unmet, make };
  const hasOthers = await restoreLeads(restoration);
  await restoreConversations(restoration);
  if (hasOthers) await deleteOtherLeads(restoration);
  if (!dryRun) await sweepErasedSince(account, unmet, { pace, wait });
  return counts;
}

function nameOf({ key }: Change): RestoredType {
  return restoredTypes[findOwner(key)?.type as keyof typeof restoredTypes];
}

const noChanges = () =>
  Object.fromEntries(
    Object.values(restoredTypes).map((name) => [name, { create: 0, replace: 0, delete: 0 }]),
  ) as ChangeCounts;

/** The number of all changes. */
export const sumChanges = (counts: ChangeCounts): number =>
  Object.values(counts)
    .flatMap((kinds) => Object.values(kinds))
    .reduce((sum, number) => sum + number, 0);
