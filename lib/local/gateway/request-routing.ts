import type { IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import type { APIGatewaySimpleAuthorizerWithContextResult } from "aws-lambda";
import type { ApiDefinition } from "../template/api-routes.ts";
import type { Invoke, LocalFunction } from "../template/functions.ts";
import { gatewayResponse, toResponse } from "./gateway-responses.ts";
import { buildFunctionEvent, buildRequestEvent, parseTarget, type RequestEvent } from "./request-event.ts";

/** The gateway's limit for a request's body, in bytes. */
const maxRequestBytes = 10_485_760;

/** Lambda's limit for a whole event, in bytes. */
const maxEventBytes = 6_291_456;

/** The path under which the local run serves a function URL, which has a host name of its own on AWS. */
const functionUrlPath = "/webhook";

/** Serves pages beside the API; undefined for a request that is not for one of them. */
export type WebPages = (request: IncomingMessage) => Promise<Response | undefined>;

/** A response, and for the log the account that the authorizer identified, and why the request failed. */
export interface Outcome {
  readonly response: Response;
  readonly account?: string | undefined;
  readonly reason?: string | undefined;
}

/** The result of an authorizer: its context is for the route's function, or says for the log why it refuses the caller. */
interface Authorization {
  readonly status: 200 | 401 | 403 | 500;
  readonly context: { readonly accountId?: string; readonly reason?: string };
}

/** Creates the handler of requests: size, host, page, function URL, route, throttle, authorizer, function, in this order. */
export function createRequestHandler(
  { routes, authorizer, throttle, urlFunction }: ApiDefinition,
  invoke: Invoke,
  webPages?: WebPages,
) {
  const authorize = createAuthorization(authorizer, invoke);
  const takeToken = createTokenBucket(throttle);

  return async (incoming: IncomingMessage, requestId: string): Promise<Outcome> => {
    const body = await buffer(incoming);
    if (body.length > maxRequestBytes) return refuse(413);
    const target = parseTarget(incoming.url ?? "");
    if (!target) return refuse(400);
    if (!isOwnHost(incoming.headers.host)) return refuse(403, "its Host is not 127.0.0.1 or localhost");
    const page = await webPages?.(incoming);
    if (page) return { response: page };
    const event = buildRequestEvent(incoming, target, requestId);
    if (urlFunction && target.path === functionUrlPath) {
      const queryStringParameters = Object.fromEntries(new URLSearchParams(target.query));
      const urlEvent = { ...buildFunctionEvent(event, body, {}), queryStringParameters };
      return { response: await call(invoke, urlFunction, urlEvent) };
    }
    const route = routes.find(({ method, path }) => method === incoming.method && path === target.path);
    if (!route) return refuse(404, "no route");
    if (!takeToken()) return refuse(429, "the throttle of the stage");
    const { status, context } = await authorize(event);
    if (status !== 200) return refuse(status, context.reason);
    const response = await call(invoke, route.function, buildFunctionEvent(event, body, context));
    return { response, account: context.accountId, reason: await findProblemCode(response) };
  };
}

const refuse = (status: Parameters<typeof gatewayResponse>[0], reason?: string): Outcome => ({
  response: gatewayResponse(status),
  reason,
});

/**
 * Whether a `Host` names this machine, with any port: a development server that forwards requests may keep its own.
 *
 * A page of another site can reach the gateway under its own host name, if it makes that name resolve to 127.0.0.1.
 *
 * @param host undefined for a request without it, which no browser sends
 */
const isOwnHost = (host: string | undefined) =>
  host === undefined || /^(?:127\.0\.0\.1|localhost)(?::\d+)?$/i.test(host);

/** Creates the gateway's authorization, which caches the authorizer's responses, denials too, for its TTL. */
function createAuthorization(
  { function: fn, identityHeader, ttlSeconds }: ApiDefinition["authorizer"],
  invoke: Invoke,
) {
  /** With the end of each, in milliseconds since the epoch. */
  const cache = new Map<string, Authorization & { readonly expiresAt: number }>();

  return async (event: RequestEvent): Promise<Authorization> => {
    const identity = event.headers[identityHeader];
    if (!identity) return { status: 401, context: { reason: `no ${identityHeader} header` } };
    const cached = cache.get(identity);
    if (cached && cached.expiresAt > Date.now()) return cached;

    const payload = JSON.stringify({ ...event, type: "REQUEST", identitySource: [identity] });
    // A function that fails has logged the cause.
    const authorization = await invoke(fn, payload).then(toAuthorization, failed);
    if (authorization.status !== 500)
      cache.set(identity, { ...authorization, expiresAt: Date.now() + ttlSeconds * 1000 });
    return authorization;
  };
}

const failed = (): Authorization => ({ status: 500, context: {} });

/** Reads a simple response. */
function toAuthorization(response: unknown): Authorization {
  const { isAuthorized, context = {} } = response as APIGatewaySimpleAuthorizerWithContextResult<
    Authorization["context"]
  >;
  return { status: isAuthorized ? 200 : 403, context };
}

async function call(invoke: Invoke, fn: LocalFunction, event: object): Promise<Response> {
  const payload = JSON.stringify(event);
  if (Buffer.byteLength(payload) > maxEventBytes) return gatewayResponse(413);
  return invoke(fn, payload).then(toResponse, () => gatewayResponse(500));
}

/** The code of a problem; undefined for another response. */
async function findProblemCode(response: Response): Promise<string | undefined> {
  if (response.headers.get("content-type") !== "application/problem+json") return undefined;
  const bytes = await response.clone().bytes();
  const body = response.headers.has("content-encoding") ? gunzipSync(bytes) : bytes;
  return JSON.parse(new TextDecoder().decode(body)).code;
}

/** Creates a token bucket. @returns a function that takes a token, and returns false when there is none */
export function createTokenBucket({ ratePerSecond, burst }: ApiDefinition["throttle"]): () => boolean {
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
