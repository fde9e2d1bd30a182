import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import {
  createServer,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { errorMessage } from "../../errors.ts";
import type { LocalFunction } from "../template/functions.ts";
import { checkAccess } from "./access-check.ts";
import type { PartitionKeyLookup } from "./dynamodb-access.ts";

/** Makes the headers with which the engine takes a request; for AWS, signed with the developer's own credentials. */
export type Sign = (headers: Record<string, string>, body: Buffer) => Promise<OutgoingHttpHeaders>;

interface ProxyOptions {
  /** The engine's. */
  readonly endpoint: string;
  readonly partitionKeyAttribute: PartitionKeyLookup;
  readonly sign: Sign;
  readonly log: (line: string) => void;
}

/** The way of the functions to the engine. */
export interface IamProxy {
  readonly endpoint: string;
  /** A new access key id by which the proxy knows the function, and so its role. */
  accessKeyFor(caller: LocalFunction): string;
  close(): void;
}

/** Starts the proxy that lets through what a function's role allows, and answers as AWS does to all else. */
export async function startIamProxy({
  endpoint,
  partitionKeyAttribute,
  sign,
  log,
}: ProxyOptions): Promise<IamProxy> {
  const callers = new Map<string, LocalFunction>();
  const forward = createForward(endpoint, sign);

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const [, accessKey = ""] = /Credential=([^/]+)\//.exec(request.headers.authorization ?? "") ?? [];
    const caller = callers.get(accessKey);
    if (!caller)
      return answer(response, 400, "UnrecognizedClientException", "The security token is invalid.");
    const operation = String(request.headers["x-amz-target"]).replace(/^.*\./, "");
    const refusal = checkAccess(caller, operation, body, partitionKeyAttribute);
    if (refusal === undefined) return forward(request, body, response);
    log(`[${caller.label}] AccessDeniedException: ${refusal}`);
    answer(response, 400, "AccessDeniedException", refusal);
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else answer(response, 500, "InternalServerError", errorMessage(error));
    });
  });
  // Functions keep connections open between requests; a timeout here would race with their next one.
  server.keepAliveTimeout = 0;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    accessKeyFor(caller) {
      const accessKey = `LOCAL${randomBytes(8).toString("hex").toUpperCase()}`;
      callers.set(accessKey, caller);
      return accessKey;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Answers in DynamoDB's own form a request that does not reach the engine. */
function answer(response: ServerResponse, status: number, type: string, message: string): void {
  response.writeHead(status, {
    "content-type": "application/x-amz-json-1.0",
    "x-amzn-requestid": randomUUID(),
  });
  response.end(JSON.stringify({ __type: `com.amazon.coral.service#${type}`, Message: message }));
}

function createForward(endpoint: string, sign: Sign) {
  const secure = endpoint.startsWith("https:");
  const send = secure ? httpsRequest : httpRequest;
  const agent = new (secure ? HttpsAgent : HttpAgent)({ keepAlive: true });
  return async (
    { headers: received }: IncomingMessage,
    body: Buffer,
    response: ServerResponse,
  ): Promise<void> => {
    const names = ["content-type", "x-amz-target"];
    const headers = await sign(Object.fromEntries(names.map((name) => [name, String(received[name])])), body);
    const upstream = send(endpoint, {
      method: "POST",
      agent,
      headers: { ...headers, "content-length": body.length },
    });
    // Without a listener, an engine that dies in the middle of an answer would end this process.
    upstream.on("error", () => {});
    upstream.end(body);
    const [answered] = (await once(upstream, "response")) as [IncomingMessage];
    const { connection, "transfer-encoding": _, ...passed } = answered.headers;
    response.writeHead(answered.statusCode ?? 500, passed);
    await pipeline(answered, response);
  };
}
