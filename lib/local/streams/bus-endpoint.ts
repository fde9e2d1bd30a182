import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { type EventBusOptions, putEvent } from "./event-bus.ts";

interface PutEventsEntry {
  readonly Source: string;
  readonly DetailType: string;
  /** JSON. */
  readonly Detail: string;
}

interface PutEventsInput {
  readonly Entries: readonly PutEventsEntry[];
}

/**
 * Serves the event bus of the run to operator commands, by the two operations of EventBridge that they call. It rejects what
 * only a web page sends: an `Origin`, or another host name.
 *
 * @see https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEvents.html
 */
export async function startBusEndpoint(bus: EventBusOptions) {
  let host = "";

  async function respond(request: IncomingMessage): Promise<object | undefined> {
    const { host: called, origin, "x-amz-target": target } = request.headers;
    const body = await json(request);
    if (called !== host || origin !== undefined) return undefined;
    if (target === "AWSEvents.DescribeEventBus") return {};
    return target === "AWSEvents.PutEvents" ? putEntries(body as PutEventsInput, bus) : undefined;
  }

  const server = createServer(async (request, response) => {
    const answer = await respond(request).catch(() => undefined);
    response.writeHead(answer ? 200 : 400, { "content-type": "application/x-amz-json-1.1" });
    response.end(JSON.stringify(answer ?? { __type: "ValidationException", message: "Not supported." }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    endpoint: `http://${host}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function putEntries({ Entries }: PutEventsInput, bus: EventBusOptions): Promise<object> {
  const results = await Promise.all(
    Entries.map(async ({ Source: source, DetailType: type, Detail }) => {
      const detail = JSON.parse(Detail) as Readonly<Record<string, unknown>>;
      const failure = await putEvent({ source, type, detail }, bus);
      return failure === undefined
        ? { EventId: randomUUID() }
        : { ErrorCode: "InternalFailure", ErrorMessage: failure };
    }),
  );
  return { FailedEntryCount: results.filter(({ ErrorCode }) => ErrorCode).length, Entries: results };
}
