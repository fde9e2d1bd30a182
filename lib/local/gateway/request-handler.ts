import type { IncomingMessage } from "node:http";
import type { Api, ApiRoute } from "../template/api-definition.ts";
import type { LocalFunction } from "../template/functions.ts";
import { createAuthorization } from "./authorization.ts";
import { readRequest } from "./http-request.ts";
import { gatewayResponse, type HttpResponse, toHttpResponse } from "./http-response.ts";
import { functionEvent, requestEvent } from "./request-event.ts";
import { createTokenBucket } from "./token-bucket.ts";

/** The gateway's limit of a request's body, in bytes. */
const largestBody = 10_485_760;

/** Lambda's limit of a request, envelope included, in bytes. */
const largestPayload = 6_291_456;

/** Calls a function with a payload of JSON; rejects when it gives no answer. */
export type Invoke = (fn: LocalFunction, payload: string) => Promise<unknown>;

/** An answer, and for the log the account that the authorizer named. */
export interface Outcome {
  readonly response: HttpResponse;
  readonly account?: string;
}

/** Makes what answers a request of the API: size, route, throttle, authorizer, function, in this order. */
export function createService({ apiId, routes, throttle }: Api, invoke: Invoke) {
  const authorize = createAuthorization((authorizer, payload) => invoke(authorizer.function, payload));
  const admits = throttle ? createTokenBucket(throttle) : () => true;

  return async (incoming: IncomingMessage, requestId: string): Promise<Outcome> => {
    const body = await readBody(incoming);
    if (!body) return refusal(413);
    const request = readRequest(incoming, body);
    if (!request) return refusal(400);
    const route = routes.find(({ method, path }) => method === request.method && path === request.path);
    if (!route) return refusal(404);
    if (!admits()) return refusal(429);
    const event = requestEvent(request, { route, apiId, requestId, at: new Date() });
    if (!route.authorizer) return { response: await call(invoke, route, functionEvent(event, body)) };

    const authorization = await authorize(route.authorizer, event);
    if (authorization.status !== 200) return refusal(authorization.status);
    const { context } = authorization;
    const response = await call(invoke, route, functionEvent(event, body, context));
    return { response, ...("accountId" in context && { account: String(context.accountId) }) };
  };
}

const refusal = (status: Parameters<typeof gatewayResponse>[0]): Outcome => ({
  response: gatewayResponse(status),
});

async function call(invoke: Invoke, route: ApiRoute, event: object): Promise<HttpResponse> {
  const payload = JSON.stringify(event);
  if (Buffer.byteLength(payload) > largestPayload) return gatewayResponse(413);
  const late = Promise.withResolvers<HttpResponse>();
  const timer = setTimeout(() => late.resolve(gatewayResponse(503)), route.timeout);
  const answered = invoke(route.function, payload).then(toHttpResponse, () => gatewayResponse(500));
  return Promise.race([answered, late.promise]).finally(() => clearTimeout(timer));
}

/** The whole body; undefined when it is larger than the gateway takes. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    // The rest is read and dropped: a client that is still sending would not see an answer.
    if (size <= largestBody) chunks.push(chunk);
  }
  return size <= largestBody ? Buffer.concat(chunks) : undefined;
}
