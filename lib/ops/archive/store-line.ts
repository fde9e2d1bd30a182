import { isDeepStrictEqual } from "node:util";
import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { conversationItem } from "../../../shared/domain/conversations.ts";
import { leadExists, leadItem } from "../../../shared/domain/leads.ts";
import {
  accountLimitKey,
  erasedLeadKey,
  leadImportKey,
  leadKey,
  messageKey,
} from "../../../shared/dynamodb/keys.ts";
import type { Pace } from "../../../shared/dynamodb/pace.ts";
import { type Item, type Key, readItem, table, tableName } from "../../../shared/dynamodb/table-client.ts";
import { type TransactItems, transact } from "../../../shared/dynamodb/transact.ts";
import { active, type Conversation } from "../../../shared/schemas/conversation-schemas.ts";
import { asChange, buildUpdate, orStaleRead, updateItem } from "../common/write-items.ts";
import { activation } from "../conversations/conversation-status.ts";
import type { ArchiveLine } from "./archive-lines.ts";

/** The import of a file into an account. */
export interface Importing {
  readonly account: string;
  /** Identifies this run of the import, with its time. Its items have it, and of their events those of leads tell it. */
  readonly runId: string;
  /** Whether the fields of leads, conversations and messages that exist become those of the file. */
  readonly replace: boolean;
  /** Whether nothing is written. */
  readonly dryRun: boolean;
  /** The ids of the leads that are erased; those of the file are added. */
  readonly erased: Set<string>;
  /** The erased leads that the file has not named. Of the others, an earlier run may have stored something. */
  readonly unmet: Set<string>;
  /** The ids of leads that do not exist, whose conversations are left out. */
  readonly missing: Set<string>;
  readonly pace: Pace;
}

/** The outcome of a line; `orphaned` if its lead does not exist. */
export type LineOutcome = "imported" | "present" | "replaced" | "erased" | "orphaned";

/** The status of a conversation in whose place another one is active. */
const ended = "closed";

/** What tells how an item was written: no file has it. */
const marks = ["imported", "changed", "changeId"];

/** What the messages of a conversation decide, and not the file. */
const counters = ["messageCount", "lastMessageAt"] as const;

/** Stores what a line has, unless it is stored or its lead is erased. */
export async function storeLine(importing: Importing, line: ArchiveLine): Promise<LineOutcome> {
  const { account, dryRun, erased, missing, unmet, pace } = importing;
  const isErased = (leadId: string) => {
    unmet.delete(leadId);
    return erased.has(leadId);
  };
  const storeOnce = (item: Item & Key) => storeItem({ ...importing, replace: false }, item);
  switch (line.type) {
    case "limit":
      return storeOnce({ ...accountLimitKey(account), requests: line.requests });
    case "leadImport":
      return storeOnce({ ...leadImportKey(account, line.sha256), startedAt: line.startedAt });
    case "erasedLead": {
      const { leadId, id } = line;
      // Only `leads erase` erases a lead that exists here.
      if (await pace.retry(() => readItem(leadKey(account, leadId)))) return "present";
      if (!erased.has(leadId)) unmet.add(leadId);
      erased.add(leadId);
      return storeOnce({ ...erasedLeadKey(account, leadId), id, leadId });
    }
    case "lead": {
      const { type, ...lead } = line;
      return isErased(lead.id) ? "erased" : storeItem(importing, leadItem(account, lead));
    }
    case "conversation": {
      const { type, ...conversation } = line;
      const { leadId } = conversation;
      if (isErased(leadId)) return "erased";
      // A dry run has stored no leads.
      if (!dryRun && !(await pace.retry(() => leadExists(account, leadId)))) missing.add(leadId);
      return missing.has(leadId) ? "orphaned" : storeConversation(importing, conversation);
    }
    case "message": {
      const { type, ...message } = line;
      const key = messageKey(account, message.conversationId, message.id);
      if (isErased(message.leadId)) return "erased";
      return missing.has(message.leadId) ? "orphaned" : storeItem(importing, { ...key, ...message });
    }
  }
}

/** Stores a conversation, with its pointer if it is active: as closed, if another one is active in its place. */
const storeConversation = (importing: Importing, conversation: Conversation): Promise<LineOutcome> =>
  storeItem(importing, conversationItem(importing.account, conversation), async (stored) => {
    if (conversation.status !== active) return {};
    const { items, activeId, isNamed } = await activation(importing.account, conversation);
    if (activeId !== undefined)
      return { item: conversationItem(importing.account, { ...conversation, status: ended }) };
    return stored?.status === active && isNamed ? {} : { others: items };
  });

/** What an item is instead, and what is written together with it, given what is stored. */
type Adapt = (stored: Item | undefined) => Promise<{ item?: Item & Key; others?: TransactItems }>;

/** Writes an item that is absent, or its fields that differ, on the condition that the stored item is as it was read. */
function storeItem(
  { runId, replace, dryRun, pace }: Importing,
  wanted: Item & Key,
  adapt: Adapt = async () => ({}),
): Promise<LineOutcome> {
  return pace.retry(async () => {
    const stored = await readItem({ pk: wanted.pk, sk: wanted.sk });
    const { item = wanted, others = [] } = await adapt(stored);
    const differing = stored ? differences(stored, item) : {};
    // An earlier attempt of this run, whose response was lost, has stored it.
    if (stored?.imported === runId && Object.keys(differing).length === 0) return "imported";
    const changes = replace && stored ? asChange(stored, differing) : {};
    if (stored && Object.keys(changes).length === 0) {
      if (others.length > 0 && stored.status === active && !dryRun) await transact(others);
      return "present";
    }
    if (!dryRun) await write(stored ? update(stored, changes) : putNew({ ...item, imported: runId }), others);
    return stored ? "replaced" : "imported";
  });
}

/** The attributes in which a stored item differs from the wanted one; undefined for those that it should not have. */
function differences(stored: Item, wanted: Item): Item {
  const kept = counters.filter((name) => wanted[name] !== undefined && stored[name] !== undefined);
  const names = Object.keys({ ...stored, ...wanted }).filter(
    (name) => !marks.includes(name) && !kept.some((counter) => counter === name),
  );
  const differing = names.filter((name) => !isSame(stored[name], wanted[name]));
  return Object.fromEntries(differing.map((name) => [name, wanted[name]]));
}

const isSame = (stored: unknown, wanted: unknown) =>
  isDeepStrictEqual(toAttribute(stored), toAttribute(wanted));

const toAttribute = (value: unknown) => marshall({ value }, { removeUndefinedValues: true }).value;

const putNew = (item: Item) => ({
  Put: { TableName: tableName, Item: item, ConditionExpression: "attribute_not_exists(pk)" },
});

/** Changes attributes, if the item has the others as they were read, but for those that each message changes. */
function update(stored: Item, changes: Item) {
  const { pk, sk, ...read } = stored;
  const added = Object.fromEntries(Object.keys(changes).map((name) => [name, undefined]));
  const unchanged = Object.entries({ ...added, ...read }).filter(
    ([name]) => name in changes || !counters.some((counter) => counter === name),
  );
  return {
    Update: buildUpdate({ pk: String(pk), sk: String(sk) }, changes, Object.fromEntries(unchanged)),
  };
}

/** @throws StaleReadError when the item is not as it was read */
async function write(
  item: ReturnType<typeof putNew> | ReturnType<typeof update>,
  others: TransactItems,
): Promise<void> {
  if (others.length > 0) return transact([item, ...others], true);
  if ("Update" in item) await updateItem(item.Update);
  else await orStaleRead(table.send(new PutCommand(item.Put)));
}
