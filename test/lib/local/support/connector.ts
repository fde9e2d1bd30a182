import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import type { ServiceEvent } from "../../../../shared/domain/event-schemas.ts";
import { listening } from "../../../support/listening.ts";

/** An event as EventBridge posts it. */
export interface PostedEvent {
  readonly id: string;
  readonly "detail-type": string;
  readonly source: string;
  readonly time: string;
  readonly detail: ServiceEvent;
}

/** Starts a channel's connector, which responds with the status that `respond` returns. */
export async function startConnector(respond: (event: PostedEvent, calls: number) => number) {
  const received: PostedEvent[] = [];
  const delivered = new Map<string, PostedEvent>();
  const server = createServer(async (request, response) => {
    const event = (await json(request)) as PostedEvent;
    received.push(event);
    response.statusCode = respond(event, received.length);
    if (response.statusCode < 300) delivered.set(event.detail.id, event);
    response.end();
  });
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  onTestFinished(stop);
  return {
    url: `${await listening(server)}/events`,
    /** Every received event, rejected ones included. */
    received,
    /** The accepted events by id. */
    delivered,
    stop,
  };
}
