import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { errorMessage } from "../../user-error.ts";
import { localAccountId, localRegion } from "../template/intrinsics.ts";
import { retryDelay } from "./retry-delay.ts";

interface EventBusOptions {
  /** The URL to which each event is posted. By default, events are only logged. */
  readonly eventsUrl: string | undefined;
  readonly log: (line: string) => void;
  /** Ends all retries. */
  readonly signal: AbortSignal;
}

/** An entry of `PutEvents`. */
interface PutEventsEntry {
  readonly Source: string;
  readonly DetailType: string;
  readonly Detail: string;
}

type BusEvent = ReturnType<typeof toEvent>;

/** EventBridge's time limit for an API destination, in milliseconds. */
const timeout = 5000;

/**
 * Opens an event bus with one target, the URL. Like EventBridge, it delivers each event separately and in no order. A failed
 * event is retried alone until the run ends, after any status but 2xx, as the webhook sample does.
 */
export function openLocalEventBus({ eventsUrl, log, signal }: EventBusOptions) {
  return {
    /** Resolves when each event has been posted once, so that a receiver gets only the events of one call at a time. */
    async PutEvents({ Entries }: { readonly Entries: readonly PutEventsEntry[] }) {
      const events = Entries.map(toEvent);
      await Promise.all(events.map((event) => (eventsUrl ? deliver(event, eventsUrl) : log(entry(event)))));
      return { FailedEntryCount: 0, Entries: events.map(({ id }) => ({ EventId: id })) };
    },
  };

  /** Posts an event, and retries it later if that failed. */
  async function deliver(event: BusEvent, url: string, attempt = 0): Promise<void> {
    const failure = await post(url, event);
    if (signal.aborted) return;
    if (!failure) return log(entry(event));
    if (attempt === 0) log(`${entry(event)} failed and is retried: ${failure}`);
    setTimeout(retryDelay(attempt), undefined, { signal, ref: false }).then(
      () => deliver(event, url, attempt + 1),
      () => {},
    );
  }
}

/** Only the type and the id may be logged; the other fields are data of a caller. */
const entry = ({ "detail-type": type, detail }: BusEvent) => `[events] ${type} ${detail.id}`;

/** @see https://docs.aws.amazon.com/eventbridge/latest/ref/overiew-event-structure.html */
const toEvent = ({ Source, DetailType, Detail }: PutEventsEntry) => ({
  version: "0",
  id: randomUUID(),
  "detail-type": DetailType,
  source: Source,
  account: localAccountId,
  time: new Date().toISOString().replace(/\.\d+Z$/, "Z"),
  region: localRegion,
  resources: [],
  detail: JSON.parse(Detail) as Readonly<Record<string, unknown>>,
});

/** Posts an event as an API destination does. @returns why the event could not be posted; undefined when it was posted */
async function post(url: string, event: BusEvent): Promise<string | undefined> {
  try {
    const response = await fetch(url, {
      method: "POST",
      redirect: "manual",
      headers: { "content-type": "application/json; charset=utf-8" },
      body: JSON.stringify(event),
      signal: AbortSignal.timeout(timeout),
    });
    await response.body?.cancel();
    return response.ok ? undefined : `the connector responded with ${response.status}`;
  } catch (error) {
    const { cause = error } = error as { cause?: unknown };
    return `the connector did not respond (${errorMessage(cause)})`;
  }
}
