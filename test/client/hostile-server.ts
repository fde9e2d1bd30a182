import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import { createClient } from "../../docs/client/client.ts";
import { checkResponse } from "../support/document.ts";
import { listening } from "../support/listening.ts";
import { seeded } from "../support/random.ts";
import { FakeApi, problem, type Reply, VirtualClock } from "./fake-api.ts";

/** What happens to a request. Those of `lost` happen after it took effect. */
export const refused = ["rate limited", "throttled", "busy", "failed", "bad gateway", "broken"] as const;
export const lost = ["lost", "cut", "late"] as const;
export type FaultName = (typeof refused)[number] | (typeof lost)[number];

const ofFunctions = {
  "cache-control": "no-store",
  vary: "Accept-Encoding",
  "ratelimit-policy": '"account";q=6000;w=60',
  ratelimit: '"account";r=5991;t=42',
};

const refusals: Readonly<Record<string, (requestId: string) => Reply>> = {
  "rate limited": (id) => problem("rate_limited", id, {}, { "retry-after": "7" }),
  busy: (id) => problem("busy", id, {}, { "retry-after": "1" }),
  failed: (id) => problem("internal_error", id),
};

/** How long a request takes, and how long a caller waits for a late response, in milliseconds. */
const [latency, lateness] = [20, 15_000];

/** Serves until the test ends. @returns the address */
export function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  onTestFinished(() => void server.close().closeAllConnections());
  return listening(server);
}

/**
 * A server of the API that does to each request what `fault` says, and a client of it. Time is virtual.
 *
 * @param fault what happens to the request with a number from 1; undefined for nothing
 */
export async function startHostileServer(
  fault: (request: number) => FaultName | undefined = () => undefined,
) {
  const clock = new VirtualClock();
  const api = new FakeApi(clock);
  const stats = { requests: 0, faults: 0, early: 0 };
  let quietUntil = 0;
  const respond = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const body = await text(incoming);
    const { pathname: path, searchParams: query } = new URL(incoming.url ?? "", "http://127.0.0.1");
    const { method = "", headers } = incoming;
    const requestId = `request-${++stats.requests}`;
    const name = fault(stats.requests);
    clock.time += name === "late" ? lateness : latency;
    if (clock.time < quietUntil) stats.early++;
    if (name === "rate limited") quietUntil = clock.time + 7000;
    if (name) stats.faults++;
    if (name === "broken") return void incoming.socket.destroy();
    outgoing.setHeader("date", new Date(clock.time).toUTCString());
    outgoing.setHeader("apigw-requestid", requestId);
    if (name === "throttled") return reply(outgoing, { status: 429, body: { message: "Too Many Requests" } });
    if (name === "bad gateway")
      return void outgoing.writeHead(502, { "content-type": "text/html" }).end("<html>");
    const key = String(headers["idempotency-key"]);
    const sent = { method, path, query, body, key };
    const response = refusals[String(name)]?.(requestId) ?? api.handle(sent, requestId);
    for (const [name, value] of Object.entries(ofFunctions)) outgoing.setHeader(name, value);
    checkReply(sent, outgoing, response);
    if (name === "lost" || name === "late") return void incoming.socket.destroy();
    reply(outgoing, response, name === "cut" ? 10 : undefined);
  };
  const url = await serve((incoming, outgoing) => {
    // An error of the fake itself is reported as unhandled.
    void respond(incoming, outgoing).finally(() => outgoing.writableEnded || incoming.socket.destroy());
  });
  // Virtual time is over when the clock says so, not when the machine is slow.
  const patient: typeof fetch = (input, init) => fetch(input, { ...init, signal: null });
  const options = { url, key: "key", fetch: patient, now: clock.now, wait: clock.wait, random: seeded(1) };
  return { url, clock, api, stats, client: createClient(options), options };
}

const typeOf = ({ body }: Reply) => `application/${"code" in Object(body) ? "problem+json" : "json"}`;

function reply(outgoing: ServerResponse, response: Reply, cut?: number): void {
  const content = JSON.stringify(response.body);
  const own = { "content-type": typeOf(response), "content-length": content.length };
  outgoing.writeHead(response.status, { ...own, ...response.headers });
  if (cut === undefined) outgoing.end(content);
  else outgoing.write(content.slice(0, cut));
}

/** The fake must not promise what the API does not: an error here ends the test. */
function checkReply(
  route: { method: string; path: string },
  outgoing: ServerResponse,
  response: Reply,
): void {
  const headers = new Headers({ "content-type": typeOf(response), ...response.headers });
  for (const [name, value] of Object.entries(outgoing.getHeaders())) headers.set(name, String(value));
  checkResponse(route, { status: response.status, headers, body: JSON.stringify(response.body) });
}
