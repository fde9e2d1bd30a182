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
 * event is retried alone until the run ends.
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
    if (!failure.isRetried)
      return log(
        `${entry(event)} was given up (on AWS, it goes to the rule's dead-letter queue): ${failure.reason}`,
      );
    if (attempt === 0) log(`${entry(event)} failed and is retried: ${failure.reason}`);
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

/** The statuses below 500 that EventBridge retries. It also retries 407, with which `fetch` fails. */
const retriedStatuses = new Set([401, 409, 429]);

/**
 * Posts an event as an API destination does, which retries some statuses and requests without a response.
 *
 * @returns why the event could not be posted, and whether it is retried; undefined when it was posted
 * @see https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-api-destinations.html
 */
async function post(url: string, event: BusEvent) {
  try {
    const response = await fetch(url, {
      method: "POST",
      redirect: "manual",
      headers: { "content-type": "application/json; charset=utf-8" },
      body: JSON.stringify(event),
      signal: AbortSignal.timeout(timeout),
    });
    await response.body?.cancel();
    const { ok, status } = response;
    if (ok) return undefined;
    const isRetried = retriedStatuses.has(status) || status >= 500;
    return { reason: `the connector responded with ${status}`, isRetried };
  } catch (error) {
    const { cause = error } = error as { cause?: unknown };
    return { reason: `the connector did not respond (${errorMessage(cause)})`, isRetried: true };
  }
}
