import { randomBytes } from "node:crypto";
import type { ApiRoute } from "../template/api-definition.ts";
import { localAccountId, localRegion } from "../template/intrinsics.ts";
import { type HttpRequest, parseQuery } from "./http-request.ts";

/** What the gateway adds to a request. */
interface RequestMeta {
  readonly route: ApiRoute;
  readonly apiId: string;
  readonly requestId: string;
  readonly at: Date;
}

/** The part of the event that a function and its authorizer have in common. */
export type RequestEvent = ReturnType<typeof buildRequestEvent>;

/** Creates a request id in the gateway's format. */
export const createRequestId = () => randomBytes(11).toString("base64");

/**
 * Builds the event of a request, in payload format 2.0, without body and authorizer context.
 *
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
 */
export function buildRequestEvent(request: HttpRequest, { route, apiId, requestId, at }: RequestMeta) {
  const { method, path, query, headers, protocol, sourceIp, port } = request;
  const routeKey = `${route.method} ${route.path}`;
  return {
    version: "2.0",
    routeKey,
    rawPath: path,
    rawQueryString: query,
    headers: {
      ...headers,
      "x-forwarded-for": sourceIp,
      "x-forwarded-port": String(port),
      "x-forwarded-proto": "http",
    } as Readonly<Record<string, string>>,
    ...(query && { queryStringParameters: parseQuery(query) }),
    requestContext: {
      accountId: localAccountId,
      apiId,
      domainName: `${apiId}.execute-api.${localRegion}.amazonaws.com`,
      domainPrefix: apiId,
      http: { method, path, protocol, sourceIp, userAgent: headers["user-agent"] ?? "" },
      requestId,
      routeKey,
      stage: "$default",
      time: formatTime(at),
      timeEpoch: at.getTime(),
    },
  };
}

/** Builds the event of the route's function. */
export function buildFunctionEvent(event: RequestEvent, body: Buffer, authorizerContext?: object) {
  const isBase64Encoded = body.length > 0 && !isText(event.headers["content-type"]);
  return {
    ...event,
    requestContext: {
      ...event.requestContext,
      ...(authorizerContext && { authorizer: { lambda: authorizerContext } }),
    },
    ...(body.length > 0 && { body: body.toString(isBase64Encoded ? "base64" : "utf8") }),
    isBase64Encoded,
  };
}

/** Builds the event of the route's authorizer, which has no body. */
export function buildAuthorizerEvent(event: RequestEvent, identitySource: readonly string[]) {
  const { apiId, http } = event.requestContext;
  const routeArn = `arn:aws:execute-api:${localRegion}:${localAccountId}:${apiId}/$default/${http.method}${http.path}`;
  return { ...event, type: "REQUEST", routeArn, identitySource };
}

/**
 * Whether a body of this type is passed as text, decoded as UTF-8; all others are passed in base64. AWS does not document
 * the types (docs/assumptions.md#base64-bodies): users observed these, and that `text/plain` in another charset is passed in base64.
 *
 * @see https://github.com/ministackorg/ministack/pull/766
 * @see https://github.com/floci-io/floci/issues/2172
 */
function isText(contentType = ""): boolean {
  const [mediaType = "", ...parameters] = contentType.toLowerCase().split(/\s*;\s*/);
  const charset = parameters.find((parameter) => parameter.startsWith("charset=")) ?? "charset=utf-8";
  return (
    /^\s*(text\/.*|application\/(json|xml|javascript|graphql))\s*$/.test(mediaType) &&
    /^charset="?utf-8"?\s*$/.test(charset)
  );
}

function formatTime(at: Date): string {
  const [, day, month, year, time] = at.toUTCString().split(" ");
  return `${day}/${month}/${year}:${time} +0000`;
}
