import type { IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import type { APIGatewaySimpleAuthorizerWithContextResult } from "aws-lambda";
import type { ApiDefinition, Authorizer } from "../template/api-routes.ts";
import type { Invoke, LocalFunction } from "../template/functions.ts";
import { gatewayResponse, type HttpResponse, toHttpResponse } from "./gateway-responses.ts";
import { isOwnHost } from "./own-host.ts";
import { buildFunctionEvent, buildRequestEvent, parseTarget, type RequestEvent } from "./request-event.ts";

/** The gateway's limit for a request's body, in bytes. */
const maxRequestBytes = 10_485_760;

/** Lambda's limit for a whole event, in bytes. */
const maxEventBytes = 6_291_456;

/** A response, and for the log the account that the authorizer identified, or why the gateway refused the request. */
export interface Outcome {
  readonly response: HttpResponse;
  readonly account?: string;
  readonly reason?: string | undefined;
}

/** The result of an authorizer: why it refuses the caller, for the log, or a context, for the route's function. */
type Authorization =
  | { readonly status: 401 | 403 | 500; readonly reason?: string | undefined }
  | { readonly status: 200; readonly context: object };

interface CachedAuthorization {
  readonly authorization: Authorization;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** Creates the handler of requests to the API: size, host, route, throttle, authorizer, function, in this order. */
export function createRequestHandler({ routes, authorizer, throttle }: ApiDefinition, invoke: Invoke) {
  const authorize = createAuthorization(authorizer, invoke);
  const takeToken = throttle ? createTokenBucket(throttle) : () => true;

  return async (incoming: IncomingMessage, requestId: string): Promise<Outcome> => {
    const body = await buffer(incoming);
    if (body.length > maxRequestBytes) return { response: gatewayResponse(413) };
    const target = parseTarget(incoming.url ?? "");
    if (!target) return { response: gatewayResponse(400) };
    if (!isOwnHost(incoming.headers.host))
      return { response: gatewayResponse(403), reason: "its Host is not 127.0.0.1 or localhost" };
    const route = routes.find(({ method, path }) => method === incoming.method && path === target.path);
    if (!route) return { response: gatewayResponse(404), reason: "no route" };
    if (!takeToken()) return { response: gatewayResponse(429), reason: "the throttle of the stage" };

    const event = buildRequestEvent(incoming, target, requestId);
    const authorization = await authorize(event);
    if (authorization.status !== 200)
      return { response: gatewayResponse(authorization.status), reason: authorization.reason };
    const { context } = authorization;
    const response = await call(invoke, route.function, buildFunctionEvent(event, body, context));
    return { response, ...("accountId" in context && { account: String(context.accountId) }) };
  };
}

/** Creates the gateway's authorization, which caches the authorizer's responses, denials too, for its TTL. */
function createAuthorization({ function: fn, identityHeader, ttlSeconds }: Authorizer, invoke: Invoke) {
  const cache = new Map<string, CachedAuthorization>();

  return async (event: RequestEvent): Promise<Authorization> => {
    const identity = event.headers[identityHeader];
    if (!identity) return { status: 401, reason: `no ${identityHeader} header` };
    const cached = cache.get(identity);
    if (cached && cached.expiresAt > Date.now()) return cached.authorization;

    const payload = JSON.stringify({ ...event, type: "REQUEST", identitySource: [identity] });
    // A function that fails has logged the cause.
    const authorization = await invoke(fn, payload).then(toAuthorization, failed);
    if (authorization.status !== 500)
      cache.set(identity, { authorization, expiresAt: Date.now() + ttlSeconds * 1000 });
    return authorization;
  };
}

const failed = (): Authorization => ({ status: 500 });

/** Reads a simple response. */
function toAuthorization(response: unknown): Authorization {
  const { isAuthorized, context = {} } = response as APIGatewaySimpleAuthorizerWithContextResult<{
    readonly reason?: string;
  }>;
  return isAuthorized ? { status: 200, context } : { status: 403, reason: context.reason };
}

async function call(invoke: Invoke, fn: LocalFunction, event: object): Promise<HttpResponse> {
  const payload = JSON.stringify(event);
  if (Buffer.byteLength(payload) > maxEventBytes) return gatewayResponse(413);
  return invoke(fn, payload).then(toHttpResponse, () => gatewayResponse(500));
}

/** Creates a token bucket. @returns a function that takes a token, and returns false when there is none */
export function createTokenBucket({
  ratePerSecond,
  burst,
}: NonNullable<ApiDefinition["throttle"]>): () => boolean {
  let tokens = burst;
  let refilledAt = performance.now();
  return () => {
    const at = performance.now();
    tokens = Math.min(burst, tokens + ((at - refilledAt) / 1000) * ratePerSecond);
    refilledAt = at;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
}
