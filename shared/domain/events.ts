import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import type { DynamoDBRecord } from "aws-lambda";
import { itemTypes, readPartition } from "../dynamodb/keys.ts";
import type { Item } from "../dynamodb/table-client.ts";
import { createdAt, idTimestamp } from "../ids.ts";
import { toRecord } from "../schemas/record.ts";
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

/** The events of a batch's new items; items that were imported or restored cause none. */
export const toEvents = (records: readonly DynamoDBRecord[]): ServiceEvent[] =>
  records.flatMap((record) => toEvent(record) ?? []);

function toEvent({ eventName, dynamodb }: DynamoDBRecord): ServiceEvent | undefined {
  const { NewImage, ApproximateCreationDateTime: writtenAt = 0 } = dynamodb ?? {};
  if (eventName !== "INSERT" || !NewImage) return undefined;
  const event = itemEvent(unmarshall(NewImage as Record<string, AttributeValue>));
  return event && writtenAt * 1000 - idTimestamp(event.id) <= maxAge ? event : undefined;
}

/** The event of an item, the same at any time after its creation; undefined for an item that has none. */
export function itemEvent(item: Item): ServiceEvent | undefined {
  const partition = readPartition(String(item.pk));
  const type = partition && eventTypes.get(partition.itemType);
  // The sort key of what is left of an erased lead is the id of the lead.
  const id = String(type === "lead.erased" ? item.id : item.sk);
  if (!type || item.imported || !new RegExp(eventSchemas[type].properties.id.pattern).test(id))
    return undefined;
  return toRecord(eventSchemas[type], {
    ...item,
    type,
    version: eventSchemas[type].properties.version.const,
    account: partition.account,
    createdAt: createdAt(id),
  });
}
