import { isDeepStrictEqual } from "node:util";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { isFurther } from "../../../shared/domain/conversations/update-message.ts";
import { type Item, type Key, readItem, table } from "../../../shared/dynamodb/table-client.ts";
import { type TransactItems, transact } from "../../../shared/dynamodb/transact.ts";
import { buildUpdate, updateItem } from "../../../shared/dynamodb/updates.ts";
import { active } from "../../../shared/schemas/conversation-schemas.ts";
import { putAbsent, type Storing, spend } from "../erasure/store-rows.ts";
import type { InvalidItems } from "../table/invalid-items.ts";
import { asChange } from "../table/write-items.ts";
import type { SourceTable } from "./source-table.ts";

/** What has become of an item; `left` if it does not fit what is stored. */
export type CopyOutcome = "stored" | "present" | "replaced" | "left";

/** What tells how an item was written: it is of its own table. */
const writeMarks = ["imported", "changed", "changeId", "undoing"];

/** What the messages of a conversation decide. */
export const counters = ["messageCount", "activeAt", "lastMessage", "lastInboundAt", "awaitingReplySince"];

/** What reports of a message decide: a state never goes back. */
const reported = ["delivery", "deliveryError", "providerId"];

const ofMessages = ["conversationId", "direction", "message", "template", "metadata"];

/** The fields that no change of an item changes. */
const fixed = ["id", "createdAt", "leadId", "channel", "accountId", "sender", ...ofMessages];

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
  readonly counts: Record<CopyOutcome | "erased", number>;
  /** The messages of requests that have taken effect in this table, too, and stored others. */
  readonly repeated: Set<string>;
  /** The leads that a dry run would have stored. */
  readonly wouldExist: Set<string>;
}

/** What an item is instead, given what is stored, and what is written together with it; or why it is left. */
export type Adapt = (
  stored: Item | undefined,
) => Promise<{ readonly item?: Item & Key; readonly others?: TransactItems } | { readonly left: string }>;

/**
 * Writes an item that is absent, a state of a message that is further or, if wanted, all fields that differ, on the condition
 * that the stored item is as it was read. Leaves it if the stored one has another value in a field that never changes.
 */
export async function copyItem(copying: Copying, wanted: Item & Key, adapt: Adapt = async () => ({})) {
  const { replace, dryRun, pace, left } = copying;
  const outcome = await pace.retry(async () => {
    const stored = await readItem({ pk: wanted.pk, sk: wanted.sk });
    const field = stored && differences(stored, wanted).find((name) => fixed.includes(name));
    const adapted =
      field === undefined ? await adapt(stored) : { left: `its ${field} is not the stored one` };
    if ("left" in adapted) {
      left.note(wanted, adapted.left);
      return "left";
    }
    const { item = wanted, others = [] } = adapted;
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
    if (others.length > 0 && stored.status === item.status && !dryRun) await transact(others);
    return "present";
  });
  await spend(copying, wanted, outcome);
  return outcome;
}

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
