import type { EventType, ServiceEvent } from "../../../shared/domain/event-schemas.ts";
import { forEachAtRate } from "../common/for-each-at-rate.ts";
import type { Pace } from "../common/pace.ts";
import { maxEntries, type PutEvents } from "./event-bus.ts";
import { readEvents, type Selection } from "./stored-events.ts";

interface Republication {
  readonly pace: Pace;
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
  { pace, rate = Number.POSITIVE_INFINITY, put, onSent }: Republication,
): Promise<EventCounts> {
  const counts: EventCounts = {};
  const batches = inBatches(readEvents(selection, pace));
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
