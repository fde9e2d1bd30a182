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

/** An event that is put on a bus. */
interface Entry {
  readonly source: string;
  /** Its `detail-type`. */
  readonly type: unknown;
  readonly detail: Detail;
}

/**
 * Puts events on a bus, which logs and posts them one after the other.
 *
 * @param details the response of the pipe's function: the details of the events
 * @throws Error when an event cannot be delivered; the events after it are not attempted
 */
export async function putOnBus(
  { source, typeField }: BusParameters,
  details: unknown,
  options: EventBusOptions,
): Promise<void> {
  for (const detail of Array.isArray(details) ? (details as Detail[]) : []) {
    const failure = await putEvent({ source, type: detail[typeField], detail }, options);
    if (failure !== undefined) throw new Error(failure);
  }
}

/** Logs and posts an event. @returns why it could not be delivered; undefined when it was */
export async function putEvent(
  entry: Entry,
  { eventsUrl, log }: EventBusOptions,
): Promise<string | undefined> {
  // Only the type and the id may be logged; the other fields are data of a caller.
  const label = `${entry.type} ${entry.detail.id}`;
  const failure = eventsUrl === undefined ? undefined : await post(eventsUrl, toEvent(entry));
  log(failure === undefined ? `[events] ${label}` : `[events] ${label} failed and is retried: ${failure}`);
  return failure;
}

/** @see https://docs.aws.amazon.com/eventbridge/latest/ref/overiew-event-structure.html */
const toEvent = ({ source, type, detail }: Entry) => ({
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
