import { isDeepStrictEqual } from "node:util";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { isFurther } from "../../../shared/domain/conversations/update-message.ts";
import { keepLead, readRecipient } from "../../../shared/domain/leads.ts";
import { erasedLeadKey, leadKey } from "../../../shared/dynamodb/keys.ts";
import { type Item, type Key, readItem, table } from "../../../shared/dynamodb/table-client.ts";
import { check, type TransactItems, transact } from "../../../shared/dynamodb/transact.ts";
import { buildUpdate, updateItem } from "../../../shared/dynamodb/updates.ts";
import { active } from "../../../shared/schemas/conversation-schemas.ts";
import type { InvalidItems } from "../table/invalid-items.ts";
import { putAbsent, type Storing, spend } from "../table/store-rows.ts";
import { asChange } from "../table/write-items.ts";
import type { SourceTable } from "./source-table.ts";

/** What has become of an item; `left` if it does not fit what is stored, `erased` if it is of an erased lead. */
export type CopyOutcome = "stored" | "present" | "replaced" | "left" | "erased";

/** What tells how an item was written: it is of its own table. */
const writeMarks = ["imported", "changed", "changeId", "failureId", "undoing"];

/** What the messages of a conversation decide. */
export const counters = ["messageCount", "activeAt", "lastMessage", "lastInboundAt", "awaitingReplySince"];

/** What reports of a message decide: a state never goes back. */
const reported = ["delivery", "deliveryError", "providerId"];

const ofMessages = ["conversationId", "direction", "message", "template", "metadata"];

/** The fields that no change of an item changes. */
const fixed = ["id", "leadId", "channel", "accountId", "sender", ...ofMessages];

/** The copy of an account from another table, or from another account. */
export interface Copying extends Storing {
  readonly source: SourceTable;
  /** Whether the fields of items that exist become those of the other table. */
  readonly replace: boolean;
  /** The items that are not valid. */
  readonly invalid: InvalidItems;
  /** The items that do not fit what is stored. */
  readonly left: InvalidItems;
  /** How many items have had each outcome. */
  readonly counts: Record<CopyOutcome, number>;
  /** The leads that are erased in the source, or here under the name that the account has there. Those that exist here stay. */
  readonly erased: Set<string>;
  /** The messages of requests that have taken effect in this table, too, and stored others. */
  readonly repeated: Set<string>;
  /** The leads that a dry run would have stored. */
  readonly wouldExist: Set<string>;
}

/** What an item is instead, and what is written together with it; or, if nothing is written, what becomes of it. */
export type Adapt = (
  stored: Item | undefined,
) => Promise<
  | { readonly item?: Item & Key; readonly others?: TransactItems }
  | { readonly left: string }
  | "present"
  | "erased"
>;

/**
 * Writes an item that is absent, a state of a message that is further or, if wanted, all fields that differ, on the condition
 * that the stored item is as it was read. Leaves it if the stored one has another value in a field that never changes.
 */
export async function copyItem(copying: Copying, wanted: Item & Key, adapt: Adapt): Promise<CopyOutcome> {
  const { replace, dryRun, pace, left } = copying;
  const Key = { pk: wanted.pk, sk: wanted.sk };
  let writes = 1;
  const outcome = await pace.retry(async () => {
    const stored = await readItem(Key);
    const adapted = await adapt(stored);
    if (typeof adapted === "string") return adapted;
    const field = stored && differences(stored, wanted).find((name) => fixed.includes(name));
    const fitted = field === undefined ? adapted : { left: `its ${field} is not the stored one` };
    if ("left" in fitted) {
      left.note(wanted, fitted.left);
      return "left";
    }
    const { item = wanted, others = [] } = fitted;
    writes = others.length > 0 ? 2 : 1;
    if (!stored) {
      const Put = putAbsent(copying, item);
      if (!dryRun)
        await (others.length > 0 ? transact([{ Put }, ...others], true) : table.send(new PutCommand(Put)));
      return "stored";
    }
    const names = differences(stored, item).filter((name) => replace || reported.includes(name));
    if (names.length > 0) {
      const wanted = Object.fromEntries(names.map((name) => [name, item[name]]));
      const Update = buildChange(stored, asChange(stored, wanted));
      if (!dryRun) await (others.length > 0 ? transact([{ Update }, ...others], true) : updateItem(Update));
      return "replaced";
    }
    if (others.length > 0 && stored.status === item.status && !dryRun)
      await transact([check(Key, isPresent), ...others]);
    return "present";
  });
  await spend(copying, wanted, outcome, writes);
  return outcome;
}

const isPresent = { ConditionExpression: "attribute_exists(pk)" };

/** For an item that stays as it is, if it exists. */
export const once: Adapt = async (stored) => (stored ? "present" : {});

type OfLead = { readonly others: TransactItems } | { readonly left: string } | "erased";

/**
 * What each transaction has that stores something of a lead: it fails once the lead is erased. So an erasure finds all that was
 * stored, whenever this process goes on. A lead that is about to be erased with its import stays, as by a message.
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
  return { left: "its lead does not exist" };
}

/** Writes an item that is absent. One that exists gets only what it lacks. */
export const copyLacking = (copying: Copying, wanted: Item & Key): Promise<CopyOutcome> =>
  copyItem({ ...copying, replace: true }, wanted, async (stored) => ({ item: { ...wanted, ...stored } }));

/** The attributes in which a stored item differs from the wanted one, also those that it should not have. */
export function differences(stored: Item, wanted: Item): readonly string[] {
  // Whether the lead waits follows from the messages, unless a client has ended the conversation: then no message is newer.
  const follows = stored.activeAt !== wanted.activeAt && wanted.status === active;
  const ofMessages = follows ? counters : counters.filter((name) => name !== "awaitingReplySince");
  const ofReports = isFurther(wanted, stored) ? [] : reported;
  const kept = [...(stored.messageCount === undefined ? [] : ofMessages), ...ofReports];
  return Object.keys({ ...stored, ...wanted }).filter(
    (name) => ![...writeMarks, ...kept].includes(name) && !isDeepStrictEqual(stored[name], wanted[name]),
  );
}

/** Changes attributes, if the item has these and all others as they were read, but for those that each message changes. */
function buildChange(stored: Item, changes: Item) {
  const { pk, sk, ...read } = stored;
  const others = Object.keys(read).filter((name) => !counters.includes(name));
  const names = new Set([...others, ...Object.keys(changes)]);
  const unchanged = Object.fromEntries(Array.from(names, (name) => [name, read[name]]));
  return buildUpdate({ pk: String(pk), sk: String(sk) }, changes, unchanged);
}
