import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import { json } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import { type EventBusOptions, openEventBus } from "../../lib/local/streams/event-bus.ts";
import { listening } from "./listening.ts";

interface PutEventsInput {
  readonly Entries: readonly { readonly Source: string; readonly Detail: string }[];
}

/** Serves an event bus that takes all events, by the two operations of EventBridge that operator commands call. @returns its URL */
export async function startEventBus(options: EventBusOptions): Promise<string> {
  const bus = openEventBus(options);
  const server = createServer(async (request, response) => {
    response.end(JSON.stringify(await respond(request, bus)));
  });
  onTestFinished(() => {
    server.close();
    bus.stop();
  });
  return listening(server);
}

async function respond(request: IncomingMessage, bus: ReturnType<typeof openEventBus>): Promise<object> {
  const input = await json(request);
  if (request.headers["x-amz-target"] !== "AWSEvents.PutEvents") return {};
  const { Entries } = input as PutEventsInput;
  for (const { Source: source, Detail } of Entries)
    bus.put({ source, typeField: "type" }, [JSON.parse(Detail)]);
  return { FailedEntryCount: 0, Entries: Entries.map(() => ({ EventId: randomUUID() })) };
}
