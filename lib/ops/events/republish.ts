import { encodeTime } from "ulid";
import type { EventType, ServiceEvent } from "../../../shared/domain/event-schemas.ts";
import { changeEvent, itemEvent } from "../../../shared/domain/events.ts";
import { accountPartition, messageKey } from "../../../shared/dynamodb/keys.ts";
import { ifWellFormed } from "../../../shared/dynamodb/malformed-items.ts";
import type { Pace } from "../../../shared/dynamodb/pace.ts";
import { queryItems } from "../../../shared/dynamodb/read-pages.ts";
import { forEachAtRate } from "../common/for-each-at-rate.ts";
import { Unreadable } from "../common/unreadable.ts";
import { isKeyPart } from "../erasure/lead-items.ts";
import { maxEntries, type PutEvents } from "./event-bus.ts";

/** Which events are read. */
export interface Selection {
  readonly accounts: readonly string[];
  readonly types: readonly EventType[];
  /** The first time, and the one at which they end, exclusive, in milliseconds since the epoch. */
  readonly since: number;
  readonly until: number;
}

/** Where the events of a type are found: in a partition, by the attribute that has their time after a prefix. */
const sources = [
  { type: "lead.created", partition: "lead", attribute: "sk", prefix: "lead_" },
  { type: "conversation.started", partition: "conversation", attribute: "sk", prefix: "conv_" },
  { type: "message.sent", partition: "message", attribute: "sk", prefix: "msg_" },
  { type: "lead.erased", partition: "erasedLead", attribute: "id", prefix: "erasure_" },
  { type: "lead.created", partition: "lead", attribute: "imported", prefix: "" },
  { type: "lead.updated", partition: "lead", attribute: "changeId", prefix: "change_" },
  { type: "conversation.updated", partition: "conversation", attribute: "changeId", prefix: "change_" },
] as const;

/**
 * Reads the events of the items that are stored: of each account, those of leads, of conversations, of the messages of one
 * conversation after the other, each by time, and then of erased, imported and changed items by their ids.
 *
 * @param unreadable gets the items whose events were never sent, because they are malformed
 */
export async function* readEvents(
  selection: Selection,
  pace: Pace,
  unreadable = new Unreadable(),
): AsyncGenerator<ServiceEvent> {
  for (const account of selection.accounts)
    for (const { type, partition, attribute, prefix } of sources) {
      if (!selection.types.includes(type)) continue;
      const read = attribute === "changeId" ? changeEvent : itemEvent;
      const partitions =
        partition === "message"
          ? findMessages(account, selection, pace)
          : [accountPartition(partition, account)];
      for await (const pk of partitions)
        for await (const items of queryItems(rangeOf(pk, attribute, prefix, selection), pace))
          yield* items.flatMap((item) => ifWellFormed(() => read(item), unreadable.noteMalformed) ?? []);
    }
}

/** The partitions of the messages of conversations whose last message is not older than a time, or of unknown age. */
async function* findMessages(account: string, range: Selection, pace: Pace): AsyncGenerator<string> {
  const conversations = accountPartition("conversation", account);
  const started = rangeOf(conversations, "sk", "conv_", { ...range, since: 0 });
  const recent = {
    ...started,
    ProjectionExpression: "sk",
    FilterExpression: "lastMessageAt >= :since OR NOT attribute_type(lastMessageAt, :text)",
    ExpressionAttributeValues: {
      ...started.ExpressionAttributeValues,
      ":since": new Date(range.since).toISOString(),
      ":text": "S",
    },
  };
  for await (const items of queryItems(recent, pace))
    for (const { sk } of items) if (isKeyPart(sk)) yield messageKey(account, sk, "").pk;
}

/**
 * The items with a time in a range. Imported ones have that of their import, and no other.
 *
 * No id is as short as these ends, so the second one is exclusive.
 */
function rangeOf(pk: string, attribute: string, prefix: string, { since, until }: Selection) {
  const [from, to] = [since, until].map((time) => `${prefix}${encodeTime(time, 10)}`);
  const isInRange = `${attribute} BETWEEN :from AND :to`;
  const isKey = attribute === "sk";
  return {
    KeyConditionExpression: isKey ? `pk = :pk AND ${isInRange}` : "pk = :pk",
    FilterExpression: isKey ? "attribute_not_exists(imported)" : isInRange,
    ExpressionAttributeValues: { ":pk": pk, ":from": from, ":to": to },
  };
}

/** How events are sent again. */
export interface Republication {
  readonly pace: Pace;
  readonly unreadable?: Unreadable;
  /** The most events per second. */
  readonly rate?: number;
  readonly put?: PutEvents;
  /** Called after each call with the number of events that the bus took. */
  readonly onSent?: (events: number) => void;
}

/** The number of events of each type. */
export type EventCounts = Partial<Record<EventType, number>>;

/** Puts the events of stored items on a bus again, if there is one, in order and one call at a time. @returns how many */
export async function republish(
  selection: Selection,
  { pace, unreadable, rate = Number.POSITIVE_INFINITY, put, onSent }: Republication,
): Promise<EventCounts> {
  const counts: EventCounts = {};
  const batches = inBatches(readEvents(selection, pace, unreadable));
  await forEachAtRate(batches, { rate: rate / maxEntries, parallel: 1 }, async (batch) => {
    await put?.(batch);
    for (const { type } of batch) counts[type] = (counts[type] ?? 0) + 1;
    onSent?.(batch.length);
  });
  return counts;
}

async function* inBatches(events: AsyncGenerator<ServiceEvent>): AsyncGenerator<ServiceEvent[]> {
  let batch: ServiceEvent[] = [];
  for await (const event of events) {
    if (batch.push(event) < maxEntries) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
