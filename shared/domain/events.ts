import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import type { DynamoDBRecord } from "aws-lambda";
import {
  checkKeys,
  ifValid,
  isText,
  logInvalidItem,
  readFields,
  readNumbers,
} from "../dynamodb/invalid-items.ts";
import {
  conversationKey,
  erasedLeadKey,
  itemTypes,
  leadKey,
  messageKey,
  readPartition,
} from "../dynamodb/keys.ts";
import type { Item, Key } from "../dynamodb/table-client.ts";
import { InvalidItemError } from "../errors.ts";
import { createdAt, hasCome, idTimestamp } from "../ids.ts";
import type { Conversation } from "../schemas/conversation-schemas.ts";
import type { Lead } from "../schemas/lead-schemas.ts";
import { readRecord, toRecord } from "../schemas/record.ts";
import { validateConversation, validateLead, validateMessage } from "../schemas/record-validators.ts";
import type { Validator } from "../schemas/validator.ts";
import { type EventType, eventSchemas, type ServiceEvent } from "./event-schemas.ts";

/** The `source` of every event. The bus tells the stages apart. */
export const eventSource = "leads-and-conversations";

/** The event of a new item, by the item's type. */
export const eventTypes: ReadonlyMap<string, EventType> = new Map([
  [itemTypes.lead, "lead.created"],
  [itemTypes.conversation, "conversation.started"],
  [itemTypes.message, "message.sent"],
  [itemTypes.erasedLead, "lead.erased"],
]);

/** The event of a marked change, by the type of the changed item. */
export const changeTypes = new Map([
  [itemTypes.lead as string, { type: "lead.updated", noun: "lead", validate: validateLead }],
  [
    itemTypes.conversation,
    { type: "conversation.updated", noun: "conversation", validate: validateConversation },
  ],
] as const);

/** What an item has to be for its event; of an erased lead, only the id is left. */
const itemValidators: Partial<Readonly<Record<EventType, Validator<Item>>>> = {
  "lead.created": validateLead,
  "conversation.started": validateConversation,
  "message.sent": validateMessage,
};

/**
 * How long after its id an item may be written and still cause an event, in milliseconds. The routes write within
 * seconds; a later item was restored, and its message must not be delivered twice.
 */
const maxAge = 60_000;

/** The keys of the items that events are composed from. */
const keys: Readonly<Record<EventType, (account: string, event: Item) => Key>> = {
  "lead.created": (account, { id }) => leadKey(account, String(id)),
  "conversation.started": (account, { id }) => conversationKey(account, String(id)),
  "message.sent": (account, { id, conversationId }) =>
    messageKey(account, String(conversationId), String(id)),
  "lead.erased": (account, { leadId }) => erasedLeadKey(account, String(leadId)),
  "lead.updated": (account, { leadId }) => leadKey(account, String(leadId)),
  "conversation.updated": (account, { conversationId }) => conversationKey(account, String(conversationId)),
};

/**
 * The events of a batch's new and changed items. Of imported items only leads have one, and restored ones have none.
 *
 * An item for which that fails is logged and left out: it would fail again, and hold back all others until it is too old.
 */
export const toEvents = (records: readonly DynamoDBRecord[]): ServiceEvent[] =>
  records.flatMap((record) => {
    try {
      return toServiceEvent(record) ?? [];
    } catch (error) {
      const { pk, sk } = record.dynamodb?.Keys ?? {};
      logInvalidItem({ pk: String(pk?.S), sk: String(sk?.S) }, error);
      return [];
    }
  });

function toServiceEvent({ eventName, dynamodb }: DynamoDBRecord): ServiceEvent | undefined {
  const { OldImage, NewImage, ApproximateCreationDateTime: writtenAt = 0 } = dynamodb ?? {};
  if (!NewImage || eventName === "REMOVE") return undefined;
  const item = unmarshall(NewImage as Record<string, AttributeValue>, readNumbers);
  if (eventName === "MODIFY")
    return item.changeId === OldImage?.changeId?.S ? undefined : ifValid(() => changeEvent(item));
  const event = ifValid(() => itemEvent(item));
  const isNew = event && (item.imported || writtenAt * 1000 - idTimestamp(event.id) <= maxAge);
  return isNew ? event : undefined;
}

/** The event of an item, the same at any time after its creation; undefined for an item that has none. @throws InvalidItemError */
function itemEvent(item: Item): ServiceEvent | undefined {
  const { itemType = "", account = "" } = readPartition(String(item.pk)) ?? {};
  const type = eventTypes.get(itemType);
  if (!type || (item.imported && type !== "lead.created")) return undefined;
  const validate = itemValidators[type];
  const record = validate ? readRecord(validate, item) : readFields(item, { leadId: isText }, {});
  return compose(type, account, item, { ...record, id: item.id, imported: item.imported ? true : undefined });
}

/** The event of the last marked change of an item; undefined for an item that has none. @throws InvalidItemError */
function changeEvent(item: Item): ServiceEvent | undefined {
  const { itemType = "", account = "" } = readPartition(String(item.pk)) ?? {};
  const change = changeTypes.get(itemType);
  if (!change || item.changeId === undefined) return undefined;
  const { type, noun, validate } = change;
  const record = readRecord<Lead | Conversation>(validate, item);
  const isChanged = (value: unknown): value is string[] =>
    Array.isArray(value) && value.length <= 8 && value.every((name) => validate.properties.includes(name));
  const { changed } = readFields(item, { changed: isChanged }, {});
  const others = { ...record, changed, id: item.changeId, [`${noun}Id`]: record.id, [noun]: record };
  return compose(type, account, item, others, "changeId");
}

/**
 * @param checked what the event has of the item
 * @param idField the attribute with the id of the event
 */
function compose(type: EventType, account: string, item: Item, checked: Item, idField = "id"): ServiceEvent {
  const { id, version } = eventSchemas[type].properties;
  const eventId = item[idField];
  if (typeof eventId !== "string" || !new RegExp(id.pattern).test(eventId) || !hasCome(eventId))
    throw new InvalidItemError(item, idField);
  if (!account) throw new InvalidItemError(item, "account");
  const event: ServiceEvent = toRecord(eventSchemas[type], {
    ...checked,
    type,
    version: version.const,
    account,
    createdAt: createdAt(eventId),
  });
  checkKeys(item, keys[type](account, event));
  return event;
}
