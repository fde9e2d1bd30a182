import type { EventType } from "../../../shared/domain/event-schemas.ts";
import type { Key } from "../../../shared/dynamodb/table-client.ts";
import { forEachAtRate } from "../common/for-each-at-rate.ts";
import type { Pace } from "../common/pace.ts";
import { maxEntries, type PutEvents } from "./event-bus.ts";
import { readEvents, type Selection, type StoredEvent } from "./stored-events.ts";

interface Republication {
  readonly pace: Pace;
  /** The key of the item after which to continue. */
  readonly after: Key | undefined;
  /** The most events per second. */
  readonly rate?: number;
  readonly put?: PutEvents;
  /** Called after each call, with the key of the last item whose event the bus has, and the number of events. */
  readonly onSent?: (key: Key, events: number) => Promise<void>;
}

/** The number of events of each type. */
export type EventCounts = Partial<Record<EventType, number>>;

/** Puts the events of stored items on a bus again, if there is one, in order and one call at a time. @returns how many */
export async function republish(
  selection: Selection,
  { pace, after, rate = Number.POSITIVE_INFINITY, put, onSent }: Republication,
): Promise<EventCounts> {
  const counts: EventCounts = {};
  const batches = inBatches(readEvents(selection, pace, after));
  await forEachAtRate(batches, { rate: rate / maxEntries, parallel: 1 }, async (batch) => {
    await put?.(batch.map(({ event }) => event));
    for (const { event } of batch) counts[event.type] = (counts[event.type] ?? 0) + 1;
    const last = batch.at(-1);
    if (last) await onSent?.(last.key, batch.length);
  });
  return counts;
}

async function* inBatches(events: AsyncGenerator<StoredEvent>): AsyncGenerator<StoredEvent[]> {
  let batch: StoredEvent[] = [];
  for await (const event of events) {
    if (batch.push(event) < maxEntries) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
