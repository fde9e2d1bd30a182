import { once } from "node:events";
import { Agent, createServer, type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { errorMessage } from "../../user-error.ts";
import { listen } from "../listen.ts";
import type { LocalFunction } from "../template/functions.ts";
import type { TableDefinition } from "../template/table-definition.ts";
import { checkIamAccess } from "./check-iam-access.ts";
import type { Faults } from "./faults.ts";

export interface ProxyOptions {
  /** The functions by the access key ids that they were given, by which the proxy finds their roles. */
  readonly callers: ReadonlyMap<string, LocalFunction>;
  /** The engine's URL. */
  readonly endpoint: string;
  /** Headers of every request to the engine, with its credentials. */
  readonly headers: Readonly<Record<string, string>>;
  readonly findPartitionKey: TableDefinition["findPartitionKey"];
  /** Operations of services other than DynamoDB, by name. Each turns an input into an output. */
  readonly operations: Readonly<Record<string, (input: never) => Promise<object>>>;
  readonly faults: Faults;
  readonly log: (line: string) => void;
}

/** The longest delay of a late response, in milliseconds: the client of the table waits for one second. */
const longestLateness = 2000;

/**
 * Starts a proxy that forwards requests to the engine, or answers them by one of its operations, if the function's role
 * allows them. It rejects all others as AWS does. A web page that reaches its port knows no access key.
 */
export function startIamProxy({
  callers,
  findPartitionKey,
  operations,
  faults,
  log,
  ...engine
}: ProxyOptions) {
  /** @returns nothing for a request that gets no response */
  async function handle(incoming: IncomingMessage): Promise<Response | undefined> {
    const body = await buffer(incoming);
    const [, accessKey = ""] = /Credential=([^/]+)\//.exec(incoming.headers.authorization ?? "") ?? [];
    const caller = callers.get(accessKey);
    if (!caller) return rejection(400, "UnrecognizedClientException", "The security token is invalid.");
    const call = incoming.headers["x-amz-target"]?.toString() ?? `${incoming.method} ${incoming.url}`;
    const operation = call.replace(/^.*\./, "");
    const own = operations[operation];
    if (!own && !call.startsWith("DynamoDB_"))
      return rejection(400, "UnknownOperationException", `The local run does not imitate ${call}.`);
    const denial = checkIamAccess(caller, operation, body, findPartitionKey);
    // The function logs it.
    if (denial !== undefined) return rejection(400, "AccessDeniedException", denial);
    // The SDK sends the function's trace id, which the worker sets to the request id. Functions of the stream have none.
    const requestId = incoming.headers["x-amzn-trace-id"]?.toString();
    const fault = faults.draw(requestId, operation);
    if (fault && !requestId) log(`[${caller.label}] fault: ${fault} ${operation}`);
    if (fault === "throttle") return rejection(400, "ThrottlingException", "FAULTS has throttle.");
    const reply = own
      ? Response.json(await own(JSON.parse(String(body)) as never))
      : await forward(engine, incoming, body);
    if (fault === "late") await setTimeout(Math.random() * longestLateness);
    return fault === "drop" ? undefined : reply;
  }

  const server = createServer(async (incoming, response) => {
    const reply = await handle(incoming).catch((error: unknown) =>
      rejection(500, "InternalServerError", errorMessage(error)),
    );
    if (reply) response.writeHead(reply.status, Object.fromEntries(reply.headers)).end(await reply.bytes());
    else response.destroy();
  });
  // Functions keep connections open between requests; a timeout here would race with their next request.
  server.keepAliveTimeout = 0;
  return listen(server);
}

/** An error in AWS's format, for a request that is not forwarded. */
const rejection = (status: number, type: string, message: string) =>
  Response.json({ __type: `com.amazon.coral.service#${type}`, Message: message }, { status });

/** Its own, because the global one follows HTTP_PROXY. */
const agent = new Agent({ keepAlive: true });

/** By `node:http`: `fetch` refuses the ports of the engine, as browsers do. */
async function forward(
  { endpoint, headers }: Pick<ProxyOptions, "endpoint" | "headers">,
  incoming: IncomingMessage,
  body: Buffer,
): Promise<Response> {
  const { "content-type": type, "x-amz-target": target } = incoming.headers;
  const upstream = request(endpoint, {
    method: "POST",
    agent,
    headers: { ...headers, "content-type": type, "x-amz-target": target, "content-length": body.length },
  });
  // Without a listener, an engine that ends in the middle of a response would end this process.
  upstream.on("error", () => {});
  upstream.end(body);
  const [reply] = (await once(upstream, "response")) as [IncomingMessage];
  const { connection, "transfer-encoding": _, ...received } = reply.headers;
  return new Response(await buffer(reply), {
    status: reply.statusCode ?? 500,
    headers: received as Record<string, string>,
  });
}
