import type { APIGatewayRequestAuthorizerEventV2, Context } from "aws-lambda";
import { type RouteName, routes } from "../../../shared/routes.ts";

/** The parts of a request that a test sets; the rest of the event has defaults. */
export interface TestRequest {
  readonly account?: string;
  /** What the request's API key may do: full access unless set. */
  readonly access?: string;
  /** How many requests the account may make in a window: as many as its stage allows, unless set. */
  readonly rateLimitRequests?: number;
  /** Since when the account is frozen. */
  readonly frozenAt?: string;
  /** The query as in the URL, without the question mark. */
  readonly query?: string;
  /** An object is sent as JSON, a string unchanged. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The event that API Gateway builds from a request, in payload format 2.0. */
export function routeEvent(name: RouteName, request: TestRequest = {}) {
  const {
    account = "acme",
    access = "full",
    rateLimitRequests,
    frozenAt,
    query = "",
    body,
    headers = {},
  } = request;
  const { method, path } = routes[name];
  return {
    version: "2.0",
    routeKey: `${method} ${path}`,
    rawPath: path,
    rawQueryString: query,
    headers: { ...(body !== undefined && bodyHeaders(body)), ...headers },
    requestContext: {
      accountId: "000000000000",
      apiId: "api",
      authorizer: {
        lambda: {
          ...{ accountId: account, keyId: "01JZ0000000000000000000000", access },
          ...(rateLimitRequests !== undefined && { rateLimitRequests }),
          ...(frozenAt !== undefined && { frozenAt }),
        },
      },
      domainName: "api.example.com",
      domainPrefix: "api",
      http: { method, path, protocol: "HTTP/1.1", sourceIp: "192.0.2.1", userAgent: "test" },
      requestId: "request-1",
      routeKey: `${method} ${path}`,
      stage: "$default",
      time: "10/Jul/2026:19:19:05 +0000",
      timeEpoch: 1783711145000,
    },
    ...(body !== undefined && { body: bodyText(body) }),
    isBase64Encoded: false,
  };
}

const bodyText = (body: unknown) => (typeof body === "string" ? body : JSON.stringify(body));

const bodyHeaders = (body: unknown) => ({
  "content-type": "application/json",
  "content-length": String(Buffer.byteLength(bodyText(body))),
});

/** The authorizer's event for a request with this Authorization header. */
export function authorizerEvent(authorization: string): APIGatewayRequestAuthorizerEventV2 {
  const { headers, ...event } = routeEvent("list-leads");
  return {
    ...event,
    type: "REQUEST",
    routeArn: "arn:aws:execute-api:local:000000000000:api/$default/GET/api/v1/leads",
    identitySource: [authorization],
    headers: { ...headers, authorization },
  } as unknown as APIGatewayRequestAuthorizerEventV2;
}

/**
 * An invocation's context with this much time remaining, in milliseconds; by default more than functions have, because a
 * busy machine must not fail a test.
 */
export const lambdaContext = (remaining = 60_000) =>
  ({ awsRequestId: "invocation-1", getRemainingTimeInMillis: () => remaining }) as Context;
