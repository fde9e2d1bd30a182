import type { IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import type {
  APIGatewayProxyStructuredResultV2,
  APIGatewaySimpleAuthorizerWithContextResult,
} from "aws-lambda";
import { gatewayMessages } from "../../gateway-messages.ts";
import type { ApiDefinition } from "../template/api-routes.ts";
import type { Invoke, LocalFunction } from "../template/functions.ts";
import { buildFunctionEvent, buildRequestEvent, type RequestEvent } from "./request-event.ts";

/** The gateway's limit for a request's body, in bytes. */
const maxRequestBytes = 10_485_760;

/** Lambda's limit for a whole event, in bytes. */
const maxEventBytes = 6_291_456;

/** The path under which the local run serves the function URL. On AWS, that URL has its own host name. */
const functionUrlPath = "/webhook";

/** Serves pages beside the API; undefined for a request that is not for one of them. */
export type WebPages = (request: IncomingMessage) => Promise<Response | undefined>;

/** A response. The account, which the authorizer identified, and why the gateway refused the request are for the log. */
export interface Outcome {
  readonly response: Response;
  readonly account?: string | undefined;
  readonly reason?: string | undefined;
}

/** The result of an authorizer. The route's function gets the context, or the log gets the reason why a caller is refused. */
interface Authorization {
  readonly status: 200 | 401 | 403 | 500;
  readonly context: { readonly accountId?: string; readonly reason?: string };
}

/** Creates the handler of requests. Order: size, path, host, page, function URL, route, throttle, authorizer, function. */
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
    const event = buildRequestEvent(incoming, requestId);
    if (!event) return refuse(400);
    if (!isOwnHost(incoming.headers.host)) return refuse(403, "its Host is not 127.0.0.1 or localhost");
    const page = await webPages?.(incoming);
    if (page) return { response: page };
    if (urlFunction && event.rawPath === functionUrlPath) {
      const queryStringParameters = Object.fromEntries(new URLSearchParams(event.rawQueryString));
      const urlEvent = { ...buildFunctionEvent(event, body, {}), queryStringParameters };
      return { response: await call(invoke, urlFunction, urlEvent) };
    }
    const route = routes.find(({ method, path }) => method === incoming.method && path === event.rawPath);
    if (!route) return refuse(404, "no route");
    if (!takeToken()) return refuse(429, "the throttle of the stage");
    const { status, context } = await authorize(event);
    if (status !== 200) return refuse(status, context.reason);
    const response = await call(invoke, route.function, buildFunctionEvent(event, body, context));
    return { response, account: context.accountId };
  };
}

/** Builds a response that the gateway sends by itself. */
export const gatewayResponse = (status: keyof typeof gatewayMessages) =>
  Response.json({ message: gatewayMessages[status] }, { status });

const refuse = (status: keyof typeof gatewayMessages, reason?: string): Outcome => ({
  response: gatewayResponse(status),
  reason,
});

/**
 * Whether a `Host` header names this machine. Any port is accepted, because a development server may forward its own `Host`.
 *
 * Other host names are refused because another site can make its own name resolve to 127.0.0.1 (DNS rebinding).
 *
 * @param host undefined for a request without the header, which no browser sends
 */
const isOwnHost = (host: string | undefined) =>
  host === undefined || /^(?:127\.0\.0\.1|localhost)(?::\d+)?$/i.test(host);

/** Creates the gateway's authorization, which caches the authorizer's responses, including denials, for its TTL. */
function createAuthorization(
  { function: fn, identityHeader, ttlSeconds }: ApiDefinition["authorizer"],
  invoke: Invoke,
) {
  /** `expiresAt` is in milliseconds since the epoch. */
  const cache = new Map<string, Authorization & { readonly expiresAt: number }>();

  return async (event: RequestEvent): Promise<Authorization> => {
    const identity = event.headers[identityHeader];
    if (!identity) return { status: 401, context: { reason: `no ${identityHeader} header` } };
    const cached = cache.get(identity);
    if (cached && cached.expiresAt > Date.now()) return cached;

    const payload = JSON.stringify({ ...event, type: "REQUEST", identitySource: [identity] });
    // The cause of a function's failure is already logged.
    const response = await invoke(fn, payload).catch(() => undefined);
    if (response === undefined) return { status: 500, context: {} };
    const { isAuthorized, context = {} } = response as APIGatewaySimpleAuthorizerWithContextResult<
      Authorization["context"]
    >;
    const authorization: Authorization = { status: isAuthorized ? 200 : 403, context };
    cache.set(identity, { ...authorization, expiresAt: Date.now() + ttlSeconds * 1000 });
    return authorization;
  };
}

async function call(invoke: Invoke, fn: LocalFunction, event: object): Promise<Response> {
  const payload = JSON.stringify(event);
  if (Buffer.byteLength(payload) > maxEventBytes) return gatewayResponse(413);
  return invoke(fn, payload).then(toResponse, () => gatewayResponse(500));
}

/** @throws Error when what a function returned is not in payload format 2.0 */
function toResponse(result: unknown): Response {
  const { statusCode, headers, body, isBase64Encoded } = Object(result) as APIGatewayProxyStructuredResultV2;
  if (!Number.isInteger(statusCode) || typeof (body ?? "") !== "string")
    throw new Error("a function returned no statusCode, or a body that is not a string");
  // `Response` checks the status and the headers. For a status without a body, such as 204, it rejects even an empty body.
  return new Response((isBase64Encoded && body ? Buffer.from(body, "base64") : body) || null, {
    status: statusCode,
    headers: headers as Record<string, string>,
  });
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
