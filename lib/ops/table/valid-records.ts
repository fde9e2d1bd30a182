import { isLimit } from "../../../shared/domain/accounts.ts";
import { conversationItem, summarize } from "../../../shared/domain/conversations/conversations.ts";
import { leadItem } from "../../../shared/domain/leads.ts";
import { checkKeys, ifValid, isText, optional, readFields } from "../../../shared/dynamodb/invalid-items.ts";
import * as keys from "../../../shared/dynamodb/keys.ts";
import type { Item, Key } from "../../../shared/dynamodb/table-client.ts";
import { InvalidItemError } from "../../../shared/errors.ts";
import { createdAt, idPrefixes, isId } from "../../../shared/ids.ts";
import { active, type Message } from "../../../shared/schemas/conversation-schemas.ts";
import { readRecord } from "../../../shared/schemas/record.ts";
import {
  validateConversation,
  validateLead,
  validateMessage,
} from "../../../shared/schemas/record-validators.ts";
import { writtenTime } from "../../../shared/schemas/validator.ts";
import type { InvalidItems } from "./invalid-items.ts";

const isTime = (value: unknown): value is string => isText(value) && writtenTime.test(value);
const isSha256 = (value: unknown): value is string => isText(value) && /^[0-9a-f]{64}$/.test(value);
const isBoolean = (value: unknown) => typeof value === "boolean";

/** Reads the records of an account that do not follow from other items. They are without keys, which are made of the fields. */
const readers = {
  /** Without a freeze, which belongs to one table only, so that both tables of a move have the same record. */
  account: (item: Item) => readFields(item, { createdAt: isTime, requests: optional(isLimit) }),
  /** An erasure, whose id contains its time. If it was the undo of an import, an import of the row makes another lead. */
  erasedLead: (item: Item) => readFields(item, { leadId: isText, id: isText, undone: optional(isBoolean) }),
  /** An imported row: the lead that was made of it, and when. This time is the lead's `updatedAt` until a change. */
  leadImport: (item: Item) =>
    readFields(item, { sha256: isSha256, leadId: isText, importId: isText, storedAt: isTime }),
  lead: (item: Item) => readRecord(validateLead, item),
  conversation: (item: Item) => readRecord(validateConversation, item),
  message: (item: Item) => readRecord(validateMessage, item),
};

export type RecordType = keyof typeof readers;

export type StoredRecords = { readonly [Type in RecordType]: ReturnType<(typeof readers)[Type]> };

/** The prefixes of the ids that records name. */
const prefixes = { leadId: "lead", conversationId: "conv", importId: "import" };

/** The items of records in an account. */
export const toItem: {
  readonly [Type in RecordType]: (account: string, record: StoredRecords[Type]) => Item & Key;
} = {
  account: (account, record) => ({ ...keys.accountKey(account), ...record }),
  erasedLead: (account, erasure) => ({ ...keys.erasedLeadKey(account, erasure.leadId), ...erasure }),
  leadImport: (account, { sha256, ...record }) => ({ ...keys.leadImportKey(account, sha256), ...record }),
  lead: leadItem,
  conversation: conversationItem,
  message: (account, message) => ({
    ...keys.messageKey(account, message.conversationId, message.id),
    ...message,
  }),
};

/** The record of an item; undefined for an item that has none, which is noted as invalid. */
export const readStored = <Type extends RecordType>(type: Type, item: Item, { noteInvalid }: InvalidItems) =>
  ifValid(() => toValidRecord(type, item), noteInvalid);

/**
 * Reads the record of an item. Of a lead, a conversation or a message, it is what the API serves: the rules for requests do not
 * matter, because another release may have stored it. The index keys of a copy follow from the record, not from the item.
 *
 * @throws InvalidItemError
 */
export function toValidRecord<Type extends RecordType>(type: Type, item: Item): StoredRecords[Type] {
  // The record of a row has the SHA-256 only in its key.
  const all = type === "leadImport" ? { ...item, sha256: item.sk } : item;
  const record = readers[type](all) as StoredRecords[Type];
  const ids = Object.entries({ ...prefixes, id: String(Reflect.get(idPrefixes, type)) });
  const wrong = ids.find(([name, prefix]) => name in record && !isId(prefix, Reflect.get(record, name)));
  if (wrong) throw new InvalidItemError(item, wrong[0]);
  // The time of a message becomes that of its conversation, which no other message could join if it were of the future.
  if ("createdAt" in record && "id" in record && record.createdAt !== createdAt(record.id))
    throw new InvalidItemError(item, "createdAt");
  checkKeys(item, toItem[type](keys.readPartition(String(item.pk))?.account ?? "", record));
  return record;
}

/**
 * A conversation and its messages, except messages of another lead or channel. Whatever the item contains, the attributes
 * that depend on messages follow from these messages.
 *
 * @returns undefined for a conversation that is not valid or has no message. All of its items are noted as invalid.
 */
export function readWhole(item: Item, messageItems: readonly Item[], invalid: InvalidItems) {
  const messages = messageItems.flatMap((each) => {
    const isOwn = each.leadId === item.leadId && each.channel === item.channel;
    if (!isOwn) invalid.note(each, "it is not of the lead and the channel of its conversation");
    return (isOwn && readStored("message", each, invalid)) || [];
  });
  const conversation = readStored("conversation", withMessages(item, messages), invalid);
  if (conversation) return { conversation, messages };
  for (const each of messageItems) invalid.note(each, "its conversation is left out");
  return undefined;
}

/**
 * The item of a conversation with the attributes that follow from its messages. If it has counted all of them, its own
 * `awaitingReplySince` stays: a client may have closed the conversation and made it active again.
 */
export function withMessages(item: Item, messages: readonly Message[]): Item {
  if (messages.length === 0) return { ...item, messageCount: 0 };
  const { lastMessageAt: activeAt, awaitingReplySince, ...others } = summarize(messages);
  const isCounted = item.messageCount === messages.length && item.activeAt === activeAt;
  const since = isCounted ? item.awaitingReplySince : awaitingReplySince;
  return { ...item, ...others, activeAt, awaitingReplySince: item.status === active ? since : undefined };
}
