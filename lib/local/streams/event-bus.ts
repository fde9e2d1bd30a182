import { randomUUID } from "node:crypto";
import { errorMessage } from "../../errors.ts";
import { localAccountId, localRegion } from "../template/intrinsics.ts";

/** What a pipe's events are on their bus. */
export interface BusParameters {
  /** The `source` of every event. */
  readonly source: string;
  /** The field of an event's detail that is its `detail-type`. */
  readonly typeField: string;
}

export interface EventBusOptions {
  /** Where each event is posted; without it, nobody has a rule on the bus. */
  readonly eventsUrl: string | undefined;
  readonly log: (line: string) => void;
}

type Detail = Readonly<Record<string, unknown>>;

/** As long as EventBridge waits for an API destination to answer, in milliseconds. */
const patience = 5000;

/**
 * Puts events on a bus, which says so in the log and posts them one after the other.
 *
 * @param details what the pipe's function answered: an event's detail each
 * @throws Error when one could not be delivered; those after it have not been tried
 */
export async function putOnBus(
  bus: BusParameters,
  details: unknown,
  { eventsUrl, log }: EventBusOptions,
): Promise<void> {
  for (const detail of Array.isArray(details) ? (details as Detail[]) : []) {
    // Type and id are made here; all else is what a caller sent.
    const name = `${detail[bus.typeField]} ${detail.id}`;
    const fault = eventsUrl === undefined ? undefined : await post(eventsUrl, toEvent(bus, detail));
    log(fault === undefined ? `[events] ${name}` : `[events] ${name} comes again: ${fault}`);
    if (fault !== undefined) throw new Error(fault);
  }
}

/** @see https://docs.aws.amazon.com/eventbridge/latest/ref/overiew-event-structure.html */
const toEvent = ({ source, typeField }: BusParameters, detail: Detail) => ({
  version: "0",
  id: randomUUID(),
  "detail-type": detail[typeField],
  source,
  account: localAccountId,
  time: new Date().toISOString().replace(/\.\d+Z$/, "Z"),
  region: localRegion,
  resources: [],
  detail,
});

/** @returns what went wrong, if anything did */
async function post(url: string, event: object): Promise<string | undefined> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(event),
      signal: AbortSignal.timeout(patience),
    });
    await response.body?.cancel();
    return response.ok ? undefined : `the connector answered ${response.status}`;
  } catch (error) {
    const { cause = error } = error as { cause?: unknown };
    return `the connector did not answer (${errorMessage(cause)})`;
  }
}
