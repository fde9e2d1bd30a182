import { conversationItem } from "../../../shared/domain/conversations.ts";
import { leadExists } from "../../../shared/domain/leads.ts";
import { leadKey } from "../../../shared/dynamodb/keys.ts";
import { queryAll } from "../../../shared/dynamodb/read-pages.ts";
import type { Item } from "../../../shared/dynamodb/table-client.ts";
import { active, type Conversation } from "../../../shared/schemas/conversation-schemas.ts";
import { forEachAtRate } from "../table/for-each-at-rate.ts";
import type { OnRows } from "../output/progress.ts";
import {
  type RecordType,
  readStored,
  readWhole,
  type StoredRecords,
  toItem,
} from "../table/stored-records.ts";
import type { Unreadable } from "../table/unreadable.ts";
import { activation } from "../conversations/conversation-status.ts";
import { messagesOf } from "../table/lead-items.ts";
import { countMessages } from "./count-messages.ts";
import type { SourceTable } from "./source-table.ts";
import { type CopyingItem, copyItem, differences, type Outcome, storeOnce } from "./copy-item.ts";
import { isErased } from "./store-rows.ts";

/** How many leads or conversations are copied at the same time, each of these with all of its messages in memory. */
const parallel = 16;

/** The status of a conversation in whose place another one is active. */
const ended = "closed";

/** The copy of an account from another table, or from another account. */
export interface Copying extends CopyingItem {
  readonly source: SourceTable;
  /** The account in the source. */
  readonly from: string;
  /** The items of the source that are not valid. */
  readonly unreadable: Unreadable;
  /** Called with the outcome of items. */
  readonly count: (outcome: Outcome | "erased", items?: number) => void;
  readonly onRows: OnRows;
}

/** Copies what the source has of an account and does not follow from other items. */
export async function copyAccount(copying: Copying): Promise<void> {
  const { source, account, unreadable, count, onRows } = copying;
  const copyEach = <Type extends Exclude<RecordType, "message" | "conversation">>(
    type: Type,
    copy: (record: StoredRecords[Type]) => Promise<Outcome | "erased">,
  ) =>
    forEachAtRate(source.items(type), { parallel }, async (item) => {
      const record = readStored(type, item, unreadable);
      if (record) count(await copy(record));
      if (type === "lead") onRows(1);
    });
  await copyEach("limit", (limit) => storeOnce(copying, toItem("limit", account, limit)));
  await copyEach("leadImport", (start) => storeOnce(copying, toItem("leadImport", account, start)));
  // What is erased comes before leads, leads before their conversations, and conversations before their messages.
  await copyEach("erasedLead", (erasure) => copyErased(copying, erasure));
  await copyEach("lead", async (lead) =>
    isErased(copying, lead.id) ? "erased" : copyItem(copying, toItem("lead", account, lead)),
  );
  // A conversation that ends makes room for another active one of its lead on its channel.
  for (const isActive of [false, true])
    await forEachAtRate(source.items("conversation"), { parallel }, async (item) => {
      if ((item.status === active) !== isActive) return;
      await copyConversation(copying, item);
      onRows(1);
    });
}

/** Nothing of a lead is copied that is erased in the source, but only `leads erase` erases one that exists here. */
async function copyErased(copying: Copying, erasure: StoredRecords["erasedLead"]): Promise<Outcome> {
  const { account, erased, unmet, pace } = copying;
  const { leadId } = erasure;
  const exists = await pace.retry(() => leadExists(account, leadId));
  if (!erased.has(leadId)) unmet.add(leadId);
  erased.add(leadId);
  return exists ? "present" : storeOnce(copying, toItem("erasedLead", account, erasure));
}

async function copyConversation(copying: Copying, item: Item): Promise<void> {
  const { account, source, unreadable, count, leave, dryRun, pace } = copying;
  const whole = readWhole(item, await source.messages(String(item.sk)), unreadable);
  if (!whole) return;
  const { conversation, messages } = whole;
  const { id } = conversation;
  const items = messages.map((message) => toItem("message", account, message));
  const stored = new Map(
    (await queryAll(messagesOf(account, id), pace)).map((message) => [message.sk, message]),
  );
  const outcome = await copyWithoutMessages(copying, conversation, [...stored.values()]);
  count(outcome);
  if (outcome === "erased" || outcome === "left") {
    count(outcome, items.length);
    if (outcome === "left") for (const message of items) leave(message, "its conversation is left");
    return;
  }
  for (const message of items) {
    const isStored =
      stored.has(message.sk) && differences(stored.get(message.sk) ?? {}, message).length === 0;
    count(isStored ? "present" : await copyItem(copying, message));
  }
  if (!dryRun) await countMessages(account, id, pace);
}

/** Copies a conversation, with its pointer if it is active: as closed, if another one is active in its place. */
async function copyWithoutMessages(
  copying: Copying,
  conversation: Conversation,
  messages: readonly Item[],
): Promise<Outcome | "erased"> {
  const { account, leave } = copying;
  const { leadId, channel, status } = conversation;
  const item = conversationItem(account, conversation);
  if (isErased(copying, leadId)) return "erased";
  if (!(await hasLead(copying, leadId))) {
    leave(item, "its lead does not exist");
    return "left";
  }
  return copyItem(copying, item, async (stored) => {
    // Otherwise who erases their lead would no longer find them.
    if (!stored && messages.some((message) => message.leadId !== leadId || message.channel !== channel))
      return { left: "its stored messages are of another lead or channel" };
    if (status !== active) return {};
    const { items, activeId, isNamed } = await activation(account, conversation);
    if (activeId !== undefined)
      return { item: conversationItem(account, { ...conversation, status: ended }) };
    return stored?.status === active && isNamed ? {} : { others: items };
  });
}

/** Whether the account has a lead, or a dry run would have copied it. */
async function hasLead(
  { account, source, from, dryRun, pace, unreadable }: Copying,
  id: string,
): Promise<boolean> {
  if (await pace.retry(() => leadExists(account, id))) return true;
  const item = dryRun ? await source.read(leadKey(from, id)) : undefined;
  return item !== undefined && readStored("lead", item, unreadable) !== undefined;
}
