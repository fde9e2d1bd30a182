import { randomBytes } from "node:crypto";
import type { ApiRoute } from "../template/api-definition.ts";
import { localAccountId, localRegion } from "../template/intrinsics.ts";
import type { HttpRequest } from "./http-request.ts";

/** What the gateway adds to a request. */
interface RequestMeta {
  readonly route: ApiRoute;
  readonly apiId: string;
  readonly requestId: string;
}

/** The part of the event that a function and its authorizer have in common. */
export type RequestEvent = ReturnType<typeof buildRequestEvent>;

/** Creates a request id in the gateway's format. */
export const createRequestId = () => randomBytes(11).toString("base64");

/**
 * Builds the event of a request, in payload format 2.0, without body and authorizer context: what the functions read of it,
 * and what says which request it is.
 *
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
 */
export function buildRequestEvent(request: HttpRequest, { route, apiId, requestId }: RequestMeta) {
  const { method, path, query, headers } = request;
  const routeKey = `${route.method} ${route.path}`;
  return {
    version: "2.0",
    routeKey,
    rawPath: path,
    rawQueryString: query,
    headers,
    requestContext: {
      accountId: localAccountId,
      apiId,
      http: { method, path },
      requestId,
      routeKey,
      stage: "$default",
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
