import { isDeepStrictEqual } from "node:util";
import { conversationItem, summarize } from "../../../shared/domain/conversations/conversations.ts";
import { withAddresses } from "../../../shared/domain/lead-names.ts";
import { leadItem } from "../../../shared/domain/leads.ts";
import { checkKeys, ifValid } from "../../../shared/dynamodb/invalid-items.ts";
import {
  accountLimitKey,
  erasedLeadKey,
  leadImportKey,
  messageKey,
  readPartition,
} from "../../../shared/dynamodb/keys.ts";
import type { Item, Key } from "../../../shared/dynamodb/table-client.ts";
import { InvalidItemError } from "../../../shared/errors.ts";
import { createdAt, hasCome, ulidPattern } from "../../../shared/ids.ts";
import { normalizeLabel } from "../../../shared/normalize-label.ts";
import { largestLimit } from "../../../shared/rate-limit/rate-limit.ts";
import {
  active,
  type Conversation,
  conversation,
  type Message,
  message,
} from "../../../shared/schemas/conversation-schemas.ts";
import { largeFields } from "../../../shared/schemas/field-schemas.ts";
import { type Lead, lead } from "../../../shared/schemas/lead-schemas.ts";
import { fieldsOf, readRecord } from "../../../shared/schemas/record.ts";
import { recordValidator, requestValidator, type Validator } from "../../../shared/schemas/validator.ts";
import type { InvalidItems } from "./invalid-items.ts";

/** What is stored of an account and does not follow from other items, without the keys, which are made of the fields. */
export interface StoredRecords {
  readonly limit: { readonly requests: number };
  readonly erasedLead: { readonly leadId: string; readonly id: string; readonly undone?: boolean };
  /** Of a row, by its SHA-256: the lead that an import has made of it, and when, which is the lead's `updatedAt` until a change. */
  readonly leadImport: Readonly<Record<"sha256" | "leadId" | "importId" | "storedAt", string>>;
  readonly lead: Lead;
  readonly conversation: Conversation;
  readonly message: Message;
}

export type RecordType = keyof StoredRecords;

const textOf = (pattern: string) => ({ type: "string", pattern });
const idOf = (prefix: string) => textOf(`^${prefix}_${ulidPattern}$`);
const time = textOf("^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$");

const validatorOf = (properties: object, required: readonly string[] = Object.keys(properties)) =>
  recordValidator({ properties, required });

/** By the schemas of the API, with the form that it gives to ids and times. */
const validators: Readonly<Record<RecordType, Validator>> = {
  limit: validatorOf({ requests: { type: "integer", minimum: 1, maximum: largestLimit } }),
  erasedLead: validatorOf({ leadId: idOf("lead"), id: idOf("erasure"), undone: { type: "boolean" } }, [
    "leadId",
    "id",
  ]),
  leadImport: validatorOf({
    sha256: textOf("^[0-9a-f]{64}$"),
    leadId: idOf("lead"),
    importId: idOf("import"),
    storedAt: time,
  }),
  lead: validatorOf({ ...lead.properties, id: idOf("lead"), updatedAt: time }, lead.required),
  conversation: validatorOf(
    {
      ...conversation.properties,
      id: idOf("conv"),
      leadId: idOf("lead"),
      createdAt: time,
      lastMessageAt: time,
      lastInboundAt: time,
      awaitingReplySince: time,
    },
    conversation.required,
  ),
  message: validatorOf(
    { ...message.properties, id: idOf("msg"), conversationId: idOf("conv"), leadId: idOf("lead") },
    message.required,
  ),
};

/** The API serves every address that is stored. A copy has only those that it would take. */
const validateAddress = requestValidator({ properties: { email: lead.properties.email } });

/** The items of records in an account. */
export const toItem: {
  readonly [Type in RecordType]: (account: string, record: StoredRecords[Type]) => Item & Key;
} = {
  limit: (account, { requests }) => ({ ...accountLimitKey(account), requests }),
  erasedLead: (account, erasure) => ({ ...erasedLeadKey(account, erasure.leadId), ...erasure }),
  leadImport: (account, { sha256, ...record }) => ({ ...leadImportKey(account, sha256), ...record }),
  lead: leadItem,
  conversation: conversationItem,
  message: (account, message) => ({ ...messageKey(account, message.conversationId, message.id), ...message }),
};

/**
 * The record of an item that the API could have stored, whatever wrote it: its fields, and no others, are valid, its id is
 * not of the future, and it is stored under its own key.
 *
 * @returns nothing, after a note, for any other item
 */
export const readStored = <Type extends RecordType>(
  type: Type,
  item: Item,
  { noteInvalid }: InvalidItems,
): StoredRecords[Type] | undefined => ifValid(() => toValidRecord(type, item), noteInvalid);

function toValidRecord<Type extends RecordType>(type: Type, item: Item): StoredRecords[Type] {
  // The record of a row has the SHA-256 only in its key.
  const all = fieldsOf(type === "leadImport" ? { ...item, sha256: item.sk } : item);
  const record = readRecord(validators[type], all) as StoredRecords[Type];
  if (!validateAddress(record)) throw new InvalidItemError(item, "email");
  const [large] = largeFields(record);
  if (large) throw new InvalidItemError(item, large);
  if ("addresses" in record && !isDeepStrictEqual(record.addresses, withAddresses({}, record.addresses)))
    throw new InvalidItemError(item, "addresses");
  const texts = Object.keys(record).filter((name) => typeof Reflect.get(record, name) !== "object");
  checkKeys(all, stored(record), texts);
  checkKeys(item, toItem[type](readPartition(String(item.pk))?.account ?? "", record));
  return record;
}

/** A record as the API stores it: its labels are normalized, and its time is that of its id, and not of the future. */
function stored(record: Item): Item {
  const { id } = record;
  const labels = ["source", "channel", "status"].filter((name) => name in record);
  return {
    ...record,
    ...Object.fromEntries(labels.map((name) => [name, normalizeLabel(String(record[name]))])),
    ...("createdAt" in record && { createdAt: createdAt(String(id)) }),
    id: typeof id === "string" && !hasCome(id) ? undefined : id,
  };
}

/**
 * A conversation and those of its messages that are of its lead and its channel. What messages make of a
 * conversation follows from these, whatever the item says.
 *
 * @returns nothing, after notes of all, for a conversation that is not valid or has no message
 */
export function readWhole(
  item: Item,
  messageItems: readonly Item[],
  invalid: InvalidItems,
): { readonly conversation: Conversation; readonly messages: readonly Message[] } | undefined {
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
 * The item of a conversation with what its messages make of it. If it has counted all of them, it knows better whether its lead
 * waits: a client may have ended it, and made it active again.
 */
export function withMessages(item: Item, messages: readonly Message[]): Item {
  if (messages.length === 0) return { ...item, messageCount: 0 };
  const { lastMessageAt: activeAt, awaitingReplySince, ...others } = summarize(messages);
  const isCounted = item.messageCount === messages.length && item.activeAt === activeAt;
  const since = isCounted ? item.awaitingReplySince : awaitingReplySince;
  return { ...item, ...others, activeAt, awaitingReplySince: item.status === active ? since : undefined };
}
