import type { EventType } from "../../../shared/domain/event-schemas.ts";
import type { Key } from "../../../shared/dynamodb/table-client.ts";
import { forEachAtRate } from "../common/for-each-at-rate.ts";
import type { Pace } from "../common/pace.ts";
import type { OnRows } from "../common/progress.ts";
import { maxEntries, type PutEvents } from "./event-bus.ts";
import { readEvents, type Selection, type StoredEvent } from "./stored-events.ts";

interface Republication {
  readonly pace: Pace;
  /** The most events per second. */
  readonly rate: number;
  /** The key of the item after which to continue. */
  readonly after: Key | undefined;
  readonly put: PutEvents;
  /** Called after each call, with the key of the last item whose event the bus has, and the number of events. */
  readonly onSent: (key: Key, events: number) => Promise<void>;
  readonly onRows: OnRows;
}

/** The number of events of each type. */
export type EventCounts = Partial<Record<EventType, number>>;

/** Puts the events of stored items on a bus again, in order and one call at a time. @returns how many */
export async function republish(
  selection: Selection,
  { pace, rate, after, put, onSent, onRows }: Republication,
): Promise<EventCounts> {
  const counts: EventCounts = {};
  const batches = inBatches(readEvents(selection, pace, after));
  await forEachAtRate(batches, { rate: rate / maxEntries, parallel: 1 }, async (batch) => {
    await put(batch.map(({ event }) => event));
    for (const { event } of batch) count(counts, event.type);
    const last = batch.at(-1);
    if (last) await onSent(last.key, batch.length);
    onRows(batch.length);
  });
  return counts;
}

/** Counts the events of stored items. */
export async function countEvents(selection: Selection, pace: Pace, after?: Key): Promise<EventCounts> {
  const counts: EventCounts = {};
  for await (const { event } of readEvents(selection, pace, after)) count(counts, event.type);
  return counts;
}

function count(counts: EventCounts, type: EventType): void {
  counts[type] = (counts[type] ?? 0) + 1;
}

/** The number of events of all types. */
export const sumCounts = (counts: EventCounts): number =>
  Object.values(counts).reduce((sum, events) => sum + events, 0);

async function* inBatches(events: AsyncGenerator<StoredEvent>): AsyncGenerator<StoredEvent[]> {
  let batch: StoredEvent[] = [];
  for await (const event of events) {
    if (batch.push(event) < maxEntries) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
