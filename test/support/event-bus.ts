import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import { json } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import { type EventBusOptions, putOnBus } from "../../lib/local/streams/event-bus.ts";
import { listening } from "./listening.ts";

interface PutEventsInput {
  readonly Entries: readonly { readonly Source: string; readonly Detail: string }[];
}

/** Serves an event bus that takes all events, by the two operations of EventBridge that operator commands call. @returns its URL */
export async function startEventBus(bus: EventBusOptions): Promise<string> {
  const server = createServer(async (request, response) => {
    response.end(JSON.stringify(await respond(request, bus)));
  });
  onTestFinished(() => void server.close());
  return listening(server);
}

async function respond(request: IncomingMessage, bus: EventBusOptions): Promise<object> {
  const input = await json(request);
  if (request.headers["x-amz-target"] !== "AWSEvents.PutEvents") return {};
  const { Entries } = input as PutEventsInput;
  for (const { Source: source, Detail } of Entries)
    await putOnBus({ source, typeField: "type" }, [JSON.parse(Detail)], bus);
  return { FailedEntryCount: 0, Entries: Entries.map(() => ({ EventId: randomUUID() })) };
}
