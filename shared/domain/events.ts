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
import { accountPartition, type ItemType, readPartition } from "../dynamodb/keys.ts";
import type { Item } from "../dynamodb/table-client.ts";
import { InvalidItemError } from "../errors.ts";
import { createdAt, idPrefixes, idTimestamp, isId } from "../ids.ts";
import { readRecord, toRecord } from "../schemas/record.ts";
import { validateConversation, validateLead, validateMessage } from "../schemas/record-validators.ts";
import type { Validator } from "../schemas/validator.ts";
import { type EventType, eventSchemas, type ServiceEvent } from "./event-schemas.ts";

/** The `source` of every event. The bus tells the stages apart. */
export const eventSource = "leads-and-conversations";

interface EventItem {
  /** The validator of the record that the events contain; undefined for an erased lead, which has only an id. */
  readonly validate?: Validator<Item>;
  /** The event of a new item. */
  readonly created: EventType;
  /** The event of a marked change. */
  readonly changed?: EventType;
}

/** The events of items, by item type. A new inbound message has `message.received` instead. */
export const eventItems: Readonly<Partial<Record<ItemType, EventItem>>> = {
  lead: { validate: validateLead, created: "lead.created", changed: "lead.updated" },
  conversation: {
    validate: validateConversation,
    created: "conversation.started",
    changed: "conversation.updated",
  },
  message: { validate: validateMessage, created: "message.sent", changed: "message.updated" },
  erasedLead: { created: "lead.erased" },
};

/**
 * How long after its id an item may be written and still cause an event, in milliseconds. The routes write within
 * seconds; a later item was restored, and its message must not be delivered twice.
 */
const maxAge = 60_000;

/**
 * The events of a batch's new and changed items. Of imported items only leads have one, and restored ones have none.
 *
 * An item that fails is logged and left out: a retry would fail again, and hold back all other items until it is too old.
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
  if (!NewImage) return undefined;
  const item = unmarshall(NewImage as Record<string, AttributeValue>, readNumbers);
  if (eventName === "MODIFY") {
    const isMarked = item.changeId !== undefined && item.changeId !== OldImage?.changeId?.S;
    return isMarked ? ifValid(() => composeEvent(item, "changed")) : undefined;
  }
  const event = ifValid(() => composeEvent(item, "created"));
  const isNew = event && (item.imported || writtenAt * 1000 - idTimestamp(event.id) <= maxAge);
  return isNew ? event : undefined;
}

/** The event of an item, the same at any time after its write; undefined for an item that has none. @throws InvalidItemError */
function composeEvent(item: Item, cause: "created" | "changed"): ServiceEvent | undefined {
  const { type: itemType, account = "" } = readPartition(String(item.pk)) ?? {};
  const source = itemType && eventItems[itemType];
  if (!source) return undefined;
  const { validate } = source;
  const isChange = cause === "changed";
  const isReceived = itemType === "message" && item.direction === "inbound";
  const type = isReceived && !isChange ? "message.received" : source[cause];
  if (!type || (item.imported && !isChange && type !== "lead.created")) return undefined;
  const record = validate ? readRecord(validate, item) : readFields(item, { leadId: isText });
  const idField = isChange ? "changeId" : "id";
  const id = item[idField];
  const fields = isChange
    ? changedFields(type, item, record, validate?.properties ?? [])
    : { ...record, id, imported: item.imported ? true : undefined, importId: item.imported };
  const prefix = isChange ? "change" : String(Reflect.get(idPrefixes, itemType));
  if (!isId(prefix, id)) throw new InvalidItemError(item, idField);
  if (!account) throw new InvalidItemError(item, "account");
  const own: Item = isChange ? record : fields;
  const sk = itemType === "erasedLead" ? own.leadId : own.id;
  checkKeys(item, { pk: accountPartition(itemType, account, ...[own.conversationId].filter(isText)), sk });
  const version = eventSchemas[type].properties.version.const;
  return toRecord(eventSchemas[type], { ...fields, type, version, id, account, createdAt: createdAt(id) });
}

/** The fields of a change's event: which fields changed, and the whole record, under its noun. @throws InvalidItemError */
function changedFields(type: EventType, item: Item, record: Item, properties: readonly string[]): Item {
  const [noun = ""] = type.split(".");
  const isChanged = (value: unknown): value is string[] =>
    Array.isArray(value) && value.length <= 10 && value.every((name) => properties.includes(name));
  const { changed } = readFields(item, { changed: isChanged });
  return { ...record, changed, [`${noun}Id`]: record.id, [noun]: record };
}
