import type { IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import type { Api, ApiRoute, Authorizer } from "../template/api-definition.ts";
import type { Invoke } from "../template/functions.ts";
import { isOwnHost, parseRequest } from "./http-request.ts";
import { gatewayResponse, type HttpResponse, toHttpResponse } from "./http-response.ts";
import {
  buildAuthorizerEvent,
  buildFunctionEvent,
  buildRequestEvent,
  type RequestEvent,
} from "./request-event.ts";

/** The gateway's limit for a request's body, in bytes. */
const maxBodyBytes = 10_485_760;

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
export function createRequestHandler({ apiId, routes, throttle }: Api, invoke: Invoke) {
  const authorize = createAuthorization(invoke);
  const takeToken = throttle ? createTokenBucket(throttle) : () => true;

  return async (incoming: IncomingMessage, requestId: string): Promise<Outcome> => {
    const body = await buffer(incoming);
    if (body.length > maxBodyBytes) return { response: gatewayResponse(413) };
    const request = parseRequest(incoming, body);
    if (!request) return { response: gatewayResponse(400) };
    if (!isOwnHost(request.headers.host))
      return { response: gatewayResponse(403), reason: "its Host is not 127.0.0.1 or localhost" };
    const route = routes.find(({ method, path }) => method === request.method && path === request.path);
    if (!route) return { response: gatewayResponse(404), reason: "no route" };
    if (!takeToken()) return { response: gatewayResponse(429), reason: "the throttle of the stage" };
    const event = buildRequestEvent(request, { route, apiId, requestId });
    if (!route.authorizer) return { response: await call(invoke, route, buildFunctionEvent(event, body)) };

    const authorization = await authorize(route.authorizer, event);
    if (authorization.status !== 200)
      return { response: gatewayResponse(authorization.status), reason: authorization.reason };
    const { context } = authorization;
    const response = await call(invoke, route, buildFunctionEvent(event, body, context));
    return { response, ...("accountId" in context && { account: String(context.accountId) }) };
  };
}

/** Creates the gateway's authorization, which caches each authorizer's responses, denials too, for its TTL. */
function createAuthorization(invoke: Invoke) {
  const caches = new WeakMap<Authorizer, Map<string, CachedAuthorization>>();

  return async (authorizer: Authorizer, event: RequestEvent): Promise<Authorization> => {
    const identity = authorizer.identityHeaders.map((name) => event.headers[name] ?? "");
    if (identity.includes(""))
      return { status: 401, reason: `no ${authorizer.identityHeaders.join(" or ")} header` };
    const key = JSON.stringify(identity);
    const cache = caches.get(authorizer) ?? new Map<string, CachedAuthorization>();
    caches.set(authorizer, cache);
    const cached = cache.get(key);
    if (cached && cached.expiresAt > Date.now()) return cached.authorization;

    const payload = JSON.stringify(buildAuthorizerEvent(event, identity));
    // A function that fails has logged the cause.
    const authorization = await invoke(authorizer.function, payload).then(toAuthorization, failed);
    if (authorization.status !== 500)
      cache.set(key, { authorization, expiresAt: Date.now() + authorizer.ttlSeconds * 1000 });
    return authorization;
  };
}

const failed = (): Authorization => ({ status: 500 });

interface Denied {
  readonly reason?: string;
}

/** Reads a simple response; an invalid one is a failure of the authorizer. */
function toAuthorization(response: unknown): Authorization {
  const { isAuthorized, context } = (response ?? {}) as { isAuthorized?: unknown; context?: unknown };
  if (typeof (context ?? {}) !== "object") return failed();
  if (isAuthorized === false) return { status: 403, reason: (context as Denied)?.reason };
  if (isAuthorized !== true) return failed();
  return { status: 200, context: (context ?? {}) as object };
}

async function call(invoke: Invoke, route: ApiRoute, event: object): Promise<HttpResponse> {
  const payload = JSON.stringify(event);
  if (Buffer.byteLength(payload) > maxEventBytes) return gatewayResponse(413);
  return invoke(route.function, payload).then(toHttpResponse, () => gatewayResponse(500));
}

/** Creates a token bucket. @returns a function that takes a token, and returns false when there is none */
export function createTokenBucket({ ratePerSecond, burst }: NonNullable<Api["throttle"]>): () => boolean {
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
