import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import type { DynamoDBRecord } from "aws-lambda";
import { itemTypes, readPartition } from "../dynamodb/keys.ts";
import { createdAt, idTimestamp } from "../ids.ts";
import { toRecord } from "../schemas.ts";
import { type EventType, eventSchemas, type ServiceEvent } from "./event-schemas.ts";

/** Which event tells of a new item, by the item's type. */
export const eventTypes: ReadonlyMap<string, EventType> = new Map([
  [itemTypes.lead, "lead.created"],
  [itemTypes.conversation, "conversation.started"],
  [itemTypes.message, "message.sent"],
]);

/**
 * How long after its id was made an item may be written and still be news, in milliseconds. The routes write within
 * seconds; what comes later was restored, and a message must not be delivered again for that.
 */
const newsFor = 60_000;

/** The events that tell of the new items of a batch; an item that is no news, as of an import, gives none. */
export const toEvents = (records: readonly DynamoDBRecord[]): ServiceEvent[] =>
  records.flatMap((record) => toEvent(record) ?? []);

function toEvent({ eventName, dynamodb }: DynamoDBRecord): ServiceEvent | undefined {
  const { Keys, NewImage, ApproximateCreationDateTime: writtenAt = 0 } = dynamodb ?? {};
  const partition = readPartition(Keys?.pk?.S ?? "");
  const type = partition && eventTypes.get(partition.itemType);
  const id = Keys?.sk?.S ?? "";
  if (eventName !== "INSERT" || !NewImage || NewImage.imported) return undefined;
  if (!type || !new RegExp(eventSchemas[type].properties.id.pattern).test(id)) return undefined;
  if (writtenAt * 1000 - idTimestamp(id) > newsFor) return undefined;
  return toRecord<ServiceEvent>(eventSchemas[type], {
    ...unmarshall(NewImage as Record<string, AttributeValue>),
    type,
    version: eventSchemas[type].properties.version.const,
    account: partition.account,
    createdAt: createdAt(id),
  });
}
