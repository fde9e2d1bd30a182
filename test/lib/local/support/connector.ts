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

/** A connector of a channel, which answers what `respond` says and gets everything at least once. */
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
    /** Everything that came. */
    received,
    /** What was taken, by its id. */
    delivered,
    stop,
  };
}
