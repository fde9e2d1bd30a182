import { randomUUID } from "node:crypto";
import { errorMessage } from "../../errors.ts";
import { localAccountId, localRegion } from "../template/intrinsics.ts";
import type { BusParameters } from "../template/pipe.ts";

export interface EventBusOptions {
  /** The URL to which each event is posted; without it, events are only logged. */
  readonly eventsUrl: string | undefined;
  readonly log: (line: string) => void;
}

type Detail = Readonly<Record<string, unknown>>;

/** EventBridge's time limit for an API destination, in milliseconds. */
const timeout = 5000;

/**
 * Puts events on a bus, which logs and posts them one after the other.
 *
 * @param details the response of the pipe's function: the details of the events
 * @throws Error when an event cannot be delivered; the events after it are not attempted
 */
export async function putOnBus(
  { source, typeField }: BusParameters,
  details: unknown,
  { eventsUrl, log }: EventBusOptions,
): Promise<void> {
  for (const detail of Array.isArray(details) ? (details as Detail[]) : []) {
    const type = detail[typeField];
    // Only the type and the id may be logged; the other fields are data of a caller.
    const label = `${type} ${detail.id}`;
    const failure = eventsUrl && (await post(eventsUrl, toEvent(source, type, detail)));
    log(failure ? `[events] ${label} failed and is retried: ${failure}` : `[events] ${label}`);
    if (failure) throw new Error(failure);
  }
}

/** @see https://docs.aws.amazon.com/eventbridge/latest/ref/overiew-event-structure.html */
const toEvent = (source: string, type: unknown, detail: Detail) => ({
  version: "0",
  id: randomUUID(),
  "detail-type": type,
  source,
  account: localAccountId,
  time: new Date().toISOString().replace(/\.\d+Z$/, "Z"),
  region: localRegion,
  resources: [],
  detail,
});

/** @returns why the event could not be posted; undefined when it was */
async function post(url: string, event: object): Promise<string | undefined> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
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
