import { encodeTime } from "ulid";
import type { EventType, ServiceEvent } from "../../../shared/domain/event-schemas.ts";
import { itemEvent } from "../../../shared/domain/events.ts";
import { accountPartition, itemTypes, messageKey, readPartition } from "../../../shared/dynamodb/keys.ts";
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
  /** The first time of creation, and the time at which they end, exclusive, in milliseconds since the epoch. */
  readonly since: number;
  readonly until: number;
}

/** The prefixes of the ids with the times of items, by the types of items. */
const idPrefixes: Readonly<Record<string, string>> = {
  [itemTypes.lead]: "lead",
  [itemTypes.conversation]: "conv",
  [itemTypes.message]: "msg",
  [itemTypes.erasedLead]: "erasure",
};

/**
 * Reads the events of the items that are stored: of each account, those of leads, of conversations, of the messages of one
 * conversation after the other, each by time, and then of erased leads by their ids.
 *
 * @param unreadable gets the items whose events were never sent, because they are malformed
 */
export async function* readEvents(
  selection: Selection,
  pace: Pace,
  unreadable = new Unreadable(),
): AsyncGenerator<ServiceEvent> {
  for (const account of selection.accounts)
    for await (const pk of findPartitions(account, selection, pace))
      for await (const items of queryItems(rangeOf(pk, selection), pace))
        yield* items.flatMap((item) => ifWellFormed(() => itemEvent(item), unreadable.noteMalformed) ?? []);
}

/** The partitions of an account with items of these types. */
async function* findPartitions(account: string, range: Selection, pace: Pace): AsyncGenerator<string> {
  if (range.types.includes("lead.created")) yield accountPartition("lead", account);
  if (range.types.includes("conversation.started")) yield accountPartition("conversation", account);
  if (range.types.includes("message.sent")) yield* findMessages(account, range, pace);
  if (range.types.includes("lead.erased")) yield accountPartition("erasedLead", account);
}

/** The partitions of the messages of conversations whose last message is not older than a time, or of unknown age. */
async function* findMessages(account: string, range: Selection, pace: Pace): AsyncGenerator<string> {
  const conversations = accountPartition("conversation", account);
  const { ExpressionAttributeValues, ...input } = rangeOf(conversations, { ...range, since: 0 });
  const recent = {
    ...input,
    ProjectionExpression: "sk",
    FilterExpression: "lastMessageAt >= :since OR NOT attribute_type(lastMessageAt, :text)",
    ExpressionAttributeValues: {
      ...ExpressionAttributeValues,
      ":since": new Date(range.since).toISOString(),
      ":text": "S",
    },
  };
  for await (const items of queryItems(recent, pace))
    for (const { sk } of items) if (isKeyPart(sk)) yield messageKey(account, sk, "").pk;
}

/**
 * The items that were created in a time. Those of erased leads have the ids of the leads as sort keys.
 *
 * No id is as short as these ends, so the second one is exclusive.
 */
function rangeOf(pk: string, { since, until }: Pick<Selection, "since" | "until">) {
  const idPrefix = idPrefixes[readPartition(pk)?.itemType ?? ""];
  const ExpressionAttributeValues = {
    ":pk": pk,
    ":from": `${idPrefix}_${encodeTime(since, 10)}`,
    ":to": `${idPrefix}_${encodeTime(until, 10)}`,
  };
  return idPrefix === "erasure"
    ? {
        KeyConditionExpression: "pk = :pk",
        FilterExpression: "#id BETWEEN :from AND :to",
        ExpressionAttributeNames: { "#id": "id" },
        ExpressionAttributeValues,
      }
    : { KeyConditionExpression: "pk = :pk AND sk BETWEEN :from AND :to", ExpressionAttributeValues };
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
