import { isDeepStrictEqual } from "node:util";
import { isFurther } from "../../../shared/domain/conversations/update-message.ts";
import { keepLead, readRecipient } from "../../../shared/domain/leads.ts";
import { erasedLeadKey, leadKey } from "../../../shared/dynamodb/keys.ts";
import { type Item, type Key, readItem } from "../../../shared/dynamodb/table-client.ts";
import { check, type TransactItems, transact } from "../../../shared/dynamodb/transact.ts";
import { buildUpdate } from "../../../shared/dynamodb/updates.ts";
import { active } from "../../../shared/schemas/conversation-schemas.ts";
import type { InvalidItems } from "../table/invalid-items.ts";
import { checkWritable, putAbsent, type Storing, spend } from "../table/store-rows.ts";
import { asChange } from "../table/write-items.ts";
import type { SourceTable } from "./source-table.ts";

/** The outcome of an item: `left` if it does not fit what is stored, `erased` if it belongs to an erased lead. */
export type CopyOutcome = "stored" | "present" | "replaced" | "left" | "erased";

/** The attributes that record how an item was written. They apply only to the table that it was written to. */
const writeMarks = ["imported", "changed", "changeId", "failureId", "undoing"];

/** The attributes of a conversation that follow from its messages. */
export const counters = ["messageCount", "activeAt", "lastMessage", "lastInboundAt", "awaitingReplySince"];

/** The attributes of a message that delivery reports set. A delivery state never goes back. */
const reported = ["delivery", "deliveryError", "providerId"];

const ofMessages = ["conversationId", "direction", "message", "template", "metadata"];

/** The fields of items that never change. */
const fixed = ["id", "leadId", "channel", "accountId", "sender", ...ofMessages];

/** The copy of an account from another table, or from another account. */
export interface Copying extends Storing {
  readonly source: SourceTable;
  /** Whether existing items get the values that they have in the other table. */
  readonly replace: boolean;
  /** The items that are left out: that are not valid, or do not fit what is stored. */
  readonly invalid: InvalidItems;
  /** How many items have had each outcome. */
  readonly counts: Record<CopyOutcome, number>;
  /** The leads that are erased in the source, or here in an account with the source's name. Leads that exist here stay. */
  readonly erased: Set<string>;
  /** The messages whose requests also took effect in this table, where they stored other messages. */
  readonly repeated: Set<string>;
  /** The leads that a dry run would have stored. */
  readonly wouldExist: Set<string>;
}

/** Returns the item to write, by default the wanted one, and the writes beside it; or the outcome, if nothing is written. */
export type Adapt = (
  stored: Item | undefined,
) => Promise<
  | { readonly item?: Item & Key; readonly others?: TransactItems }
  | { readonly left: string }
  | "present"
  | "erased"
>;

/**
 * Writes an absent item. If the item exists, and is still as it was read, updates it to a later delivery state or, with
 * `replace`, in all fields that differ. Leaves out an item if the stored one differs in a field that never changes.
 */
export async function copyItem(copying: Copying, wanted: Item & Key, adapt: Adapt): Promise<CopyOutcome> {
  const { replace, dryRun, pace, invalid } = copying;
  const Key = { pk: wanted.pk, sk: wanted.sk };
  const outcome = await pace.retry(async () => {
    const stored = await readItem(Key);
    const adapted = await adapt(stored);
    if (typeof adapted === "string") return adapted;
    const field = stored && differences(stored, wanted).find((name) => fixed.includes(name));
    const fitted = field === undefined ? adapted : { left: `its ${field} is not the stored one` };
    if ("left" in fitted) {
      invalid.note(wanted, fitted.left);
      return "left";
    }
    const { item = wanted, others = [] } = fitted;
    const write = async (own: TransactItems[number]) => {
      if (dryRun) return;
      await checkWritable(copying);
      await transact([own, ...others]);
    };
    if (!stored) {
      await write({ Put: putAbsent(copying, item) });
      return "stored";
    }
    const names = differences(stored, item).filter((name) => replace || reported.includes(name));
    if (names.length > 0) {
      const wanted = Object.fromEntries(names.map((name) => [name, item[name]]));
      await write({ Update: buildChange(stored, asChange(stored, wanted)) });
      return "replaced";
    }
    if (others.length > 0 && stored.status === item.status) await write(check(Key, isPresent));
    return "present";
  });
  await spend(copying, wanted, outcome, 2);
  return outcome;
}

const isPresent = { ConditionExpression: "attribute_exists(pk)" };

/** Writes an item only if it is absent. */
export const once: Adapt = async (stored) => (stored ? "present" : {});

type OfLead = { readonly others: TransactItems } | { readonly left: string } | "erased";

/**
 * Each transaction that stores something of a lead contains this part, and fails once the lead is erased. So an erasure finds
 * all that was stored, even if this process pauses. A lead whose import is being undone is kept, as by a message.
 */
export async function ifLeadExists(
  { account, erased, wouldExist }: Copying,
  leadId: string,
): Promise<OfLead> {
  if (wouldExist.has(leadId)) return { others: [] };
  const lead = await readRecipient(account, leadId);
  if (lead?.undoing) return { others: [{ Update: keepLead(account, leadId) }] };
  const ConditionExpression = `${isPresent.ConditionExpression} AND attribute_not_exists(undoing)`;
  if (lead) return { others: [check(leadKey(account, leadId), { ConditionExpression })] };
  if (erased.has(leadId) || (await readItem(erasedLeadKey(account, leadId)))) return "erased";
  return { left: "its lead is not in this table: run the command again" };
}

/** Writes an absent item. An existing item gets only the attributes that it lacks. */
export const copyLacking = (copying: Copying, wanted: Item & Key): Promise<CopyOutcome> =>
  copyItem({ ...copying, replace: true }, wanted, async (stored) => ({ item: { ...wanted, ...stored } }));

/** The attributes in which a stored item differs from the wanted one, also attributes that it should not have. */
export function differences(stored: Item, wanted: Item): readonly string[] {
  // Whether the lead waits follows from the messages, unless a client has closed the conversation after the newest message.
  const follows = stored.activeAt !== wanted.activeAt && wanted.status === active;
  const ofMessages = follows ? counters : counters.filter((name) => name !== "awaitingReplySince");
  const ofReports = isFurther(wanted, stored) ? [] : reported;
  const kept = [...(stored.messageCount === undefined ? [] : ofMessages), ...ofReports];
  return Object.keys({ ...stored, ...wanted }).filter(
    (name) => ![...writeMarks, ...kept].includes(name) && !isDeepStrictEqual(stored[name], wanted[name]),
  );
}

/** Changes attributes on condition that all are as they were read, except attributes that each message changes. */
function buildChange(stored: Item, changes: Item) {
  const { pk, sk, ...read } = stored;
  const others = Object.keys(read).filter((name) => !counters.includes(name));
  const names = new Set([...others, ...Object.keys(changes)]);
  const unchanged = Object.fromEntries(Array.from(names, (name) => [name, read[name]]));
  return buildUpdate({ pk: String(pk), sk: String(sk) }, changes, unchanged);
}
