import { randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { errorMessage } from "../../errors.ts";
import { localAccountId, localRegion } from "../template/intrinsics.ts";
import type { BusParameters } from "../template/pipe.ts";

export interface EventBusOptions {
  /** The URL to which each event is posted; without it, events are only logged. */
  readonly eventsUrl: string | undefined;
  /** The directory that keeps events until they are delivered; without it, they end with this run. */
  readonly directory?: string | undefined;
  readonly log: (line: string) => void;
  readonly now?: () => number;
  /** Waits for a number of milliseconds. Tests need not wait as long. */
  readonly wait?: (milliseconds: number) => Promise<unknown>;
}

type Detail = Readonly<Record<string, unknown>>;

type BusEvent = ReturnType<typeof toEvent>;

/** What EventBridge does with an API destination, in milliseconds: its time limit, and how long it retries an event. */
const timeout = 5000;
const maxAge = 24 * 60 * 60_000;

/** Posts per second, the default of an API destination. A receiver that does not respond then holds 1,500 connections. */
const maxRate = 300;

const firstDelay = 100;
const maxDelay = 10_000;

/**
 * Opens an event bus with one target, the URL. Like EventBridge, it takes an event, and then delivers each by itself, in no
 * order: one that is refused is retried alone. Events that an earlier run has not delivered are delivered first.
 */
export function openEventBus({
  eventsUrl,
  directory,
  log,
  now = Date.now,
  wait = (milliseconds) => setTimeout(milliseconds, undefined, { ref: false }),
}: EventBusOptions) {
  let stopped = false;
  let nextPost = 0;
  const fileOf = ({ id }: BusEvent) => directory && join(directory, `${id}.json`);
  if (eventsUrl && directory) for (const event of readEvents(directory)) void deliver(event, eventsUrl);
  return {
    /**
     * Takes events.
     *
     * @param details the response of the pipe's function: the details of the events
     */
    put({ source, typeField }: BusParameters, details: unknown): void {
      for (const detail of Array.isArray(details) ? (details as Detail[]) : []) {
        const event = toEvent(source, detail[typeField], detail, now());
        if (!eventsUrl) {
          log(`[events] ${label(event)}`);
          continue;
        }
        const file = fileOf(event);
        if (file) writeFileSync(file, JSON.stringify(event), { mode: 0o600 });
        void deliver(event, eventsUrl);
      }
    },
    /** Ends all retries. The next run delivers what the directory keeps. */
    stop(): void {
      stopped = true;
    },
  };

  async function deliver(event: BusEvent, url: string): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      const time = now();
      nextPost = Math.max(time, nextPost + 1000 / maxRate);
      await wait(nextPost - time);
      if (stopped) return;
      const failure = await post(url, event);
      if (!failure?.isRetried || now() - Date.parse(event.time) > maxAge) {
        const file = fileOf(event);
        if (file) rmSync(file, { force: true });
        const end = failure && ` is given up, on AWS to the rule's dead-letter queue: ${failure.reason}`;
        return log(`[events] ${label(event)}${end ?? ""}`);
      }
      if (attempt === 0) log(`[events] ${label(event)} failed and is retried: ${failure.reason}`);
      await wait(Math.min(firstDelay * 2 ** attempt, maxDelay));
    }
  }
}

/** The events that an earlier run has not delivered. One that it could not write whole, it had not taken. */
function readEvents(directory: string): BusEvent[] {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return readdirSync(directory).flatMap((name) => {
    try {
      return JSON.parse(readFileSync(join(directory, name), "utf8")) as BusEvent;
    } catch {
      rmSync(join(directory, name));
      return [];
    }
  });
}

/** Only the type and the id may be logged; the other fields are data of a caller. */
const label = ({ "detail-type": type, detail }: BusEvent) => `${type} ${detail.id}`;

/** @see https://docs.aws.amazon.com/eventbridge/latest/ref/overiew-event-structure.html */
const toEvent = (source: string, type: unknown, detail: Detail, time: number) => ({
  version: "0",
  id: randomUUID(),
  "detail-type": type,
  source,
  account: localAccountId,
  time: new Date(time).toISOString().replace(/\.\d+Z$/, "Z"),
  region: localRegion,
  resources: [],
  detail,
});

/** What EventBridge retries below 500; 407, which it also retries, fails in `fetch`. */
const retriedStatuses = new Set([401, 409, 429]);

/**
 * Posts an event as an API destination does: it retries some statuses and requests without a response.
 *
 * @returns why the event could not be posted; undefined when it was
 * @see https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-api-destinations.html
 */
async function post(
  url: string,
  event: BusEvent,
): Promise<{ reason: string; isRetried: boolean } | undefined> {
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
    return {
      reason: `the connector responded with ${status}`,
      isRetried: retriedStatuses.has(status) || status >= 500,
    };
  } catch (error) {
    const { cause = error } = error as { cause?: unknown };
    return { reason: `the connector did not respond (${errorMessage(cause)})`, isRetried: true };
  }
}
