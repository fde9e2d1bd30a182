import { encodeTime } from "ulid";
import type { EventType, ServiceEvent } from "../../../shared/domain/event-schemas.ts";
import { itemEvent } from "../../../shared/domain/events.ts";
import {
  accountPartition,
  itemTypes,
  listPartition,
  messageKey,
  readPartition,
} from "../../../shared/dynamodb/keys.ts";
import type { Key } from "../../../shared/dynamodb/table-client.ts";
import type { Pace } from "../common/pace.ts";
import { queryItems } from "../common/read-items.ts";

/** Which events are read. */
export interface Selection {
  readonly accounts: readonly string[];
  readonly types: readonly EventType[];
  /** The first time of creation, and the time at which they end, exclusive, in milliseconds since the epoch. */
  readonly since: number;
  readonly until: number;
}

/** The event of an item, and the item's key. */
export interface StoredEvent {
  readonly event: ServiceEvent;
  readonly key: Key;
}

/** A partition with items of a selection. */
interface Partition {
  readonly pk: string;
  readonly idPrefix: "lead" | "conv" | "msg" | "erasure";
}

/** In this order the items of an account are read. */
const itemOrder: readonly string[] = [
  ...[itemTypes.lead, itemTypes.conversation, itemTypes.message, itemTypes.erasedLead],
];

/**
 * Reads the events of the items that are stored, in an order that is always the same: by account, then leads, conversations,
 * and the messages of one conversation after the other, each by time, and then erased leads by their ids.
 *
 * @param after the key of the item with which to continue, exclusive
 */
export async function* readEvents(
  { accounts, ...selection }: Selection,
  pace: Pace,
  after?: Key,
): AsyncGenerator<StoredEvent> {
  const start = after && readPartition(after.pk)?.account;
  for (const account of accounts) {
    if (start !== undefined && account < start) continue;
    for await (const partition of findPartitions(account, selection, pace)) {
      if (after && order(partition.pk) < order(after.pk)) continue;
      const from = after?.pk === partition.pk ? after : undefined;
      for await (const items of queryItems(rangeOf(partition, selection), pace, from))
        for (const item of items) {
          const event = itemEvent(item);
          if (event) yield { event, key: { pk: String(item.pk), sk: String(item.sk) } };
        }
    }
  }
}

type Range = Omit<Selection, "accounts">;

/** Partitions sort by this text. Ids have no character before `!`. */
function order(pk: string): string {
  const { account = "", itemType = "", others = [] } = readPartition(pk) ?? {};
  return [account, itemOrder.indexOf(itemType), ...others].join("\0");
}

/** The partitions of an account with items of these types. */
async function* findPartitions(account: string, range: Range, pace: Pace): AsyncGenerator<Partition> {
  const conversations: Partition = { pk: listPartition("conversation", account), idPrefix: "conv" };
  if (range.types.includes("lead.created")) yield { pk: listPartition("lead", account), idPrefix: "lead" };
  if (range.types.includes("conversation.started")) yield conversations;
  if (range.types.includes("message.sent")) yield* findMessages(account, conversations, range, pace);
  if (range.types.includes("lead.erased"))
    yield { pk: accountPartition("erasedLead", account), idPrefix: "erasure" };
}

/** The conversations with messages of a time: those whose last message is not older. */
async function* findMessages(
  account: string,
  conversations: Partition,
  range: Range,
  pace: Pace,
): AsyncGenerator<Partition> {
  const { ExpressionAttributeValues, ...input } = rangeOf(conversations, { ...range, since: 0 });
  const recent = {
    ...input,
    ProjectionExpression: "sk",
    FilterExpression: "lastMessageAt >= :since",
    ExpressionAttributeValues: {
      ...ExpressionAttributeValues,
      ":since": new Date(range.since).toISOString(),
    },
  };
  for await (const items of queryItems(recent, pace))
    for (const { sk } of items) yield { pk: messageKey(account, String(sk), "").pk, idPrefix: "msg" };
}

/**
 * The items that were created in a time. Those of erased leads have the ids of the leads as sort keys.
 *
 * No id is as short as these ends, so the second one is exclusive.
 */
function rangeOf({ pk, idPrefix }: Partition, { since, until }: Pick<Range, "since" | "until">) {
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
