import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import type { DynamoDBRecord } from "aws-lambda";
import {
  conversationKey,
  erasedLeadKey,
  itemTypes,
  leadKey,
  messageKey,
  readPartition,
} from "../dynamodb/keys.ts";
import { checkKeys, ifWellFormed, logMalformed, readNumbers } from "../dynamodb/malformed-items.ts";
import type { Item, Key } from "../dynamodb/table-client.ts";
import { MalformedItemError } from "../errors.ts";
import { createdAt, idTimestamp } from "../ids.ts";
import { readRecord } from "../schemas/record.ts";
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
};

/**
 * The events of a batch's new items; items that were imported or restored cause none.
 *
 * An item for which that fails is logged and left out: it would fail again, and hold back all others until it is too old.
 */
export const toEvents = (records: readonly DynamoDBRecord[]): ServiceEvent[] =>
  records.flatMap((record) => {
    try {
      return toEvent(record) ?? [];
    } catch (error) {
      const { pk, sk } = record.dynamodb?.Keys ?? {};
      logMalformed({ pk: String(pk?.S), sk: String(sk?.S) }, error);
      return [];
    }
  });

function toEvent({ eventName, dynamodb }: DynamoDBRecord): ServiceEvent | undefined {
  const { NewImage, ApproximateCreationDateTime: writtenAt = 0 } = dynamodb ?? {};
  if (eventName !== "INSERT" || !NewImage) return undefined;
  const item = unmarshall(NewImage as Record<string, AttributeValue>, readNumbers);
  const event = ifWellFormed(() => itemEvent(item));
  return event && writtenAt * 1000 - idTimestamp(event.id) <= maxAge ? event : undefined;
}

/** The event of an item, the same at any time after its creation; undefined for an item that has none. @throws MalformedItemError */
export function itemEvent(item: Item): ServiceEvent | undefined {
  const partition = readPartition(String(item.pk));
  const type = partition && eventTypes.get(partition.itemType);
  if (!type || item.imported) return undefined;
  const { account } = partition;
  const { id, version } = eventSchemas[type].properties;
  if (typeof item.id !== "string" || !new RegExp(id.pattern).test(item.id))
    throw new MalformedItemError(item, "id");
  const event = readRecord(eventSchemas[type], {
    ...item,
    type,
    version: version.const,
    account,
    createdAt: createdAt(item.id),
  });
  checkKeys(item, keys[type](account, event));
  return event;
}
