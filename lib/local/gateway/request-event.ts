import type { IncomingMessage } from "node:http";

/** The part of the event that a function and its authorizer have in common. */
export type RequestEvent = NonNullable<ReturnType<typeof buildRequestEvent>>;

/**
 * Builds the part of a request's event that the functions read, in payload format 2.0, without body and authorizer context.
 * Repeated headers are joined (docs/assumptions.md#repeated-headers).
 *
 * @returns undefined when the path cannot be decoded
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
 */
export function buildRequestEvent(
  { method = "", url = "", headersDistinct, socket }: IncomingMessage,
  requestId: string,
) {
  const [target = "", ...query] = url.split("?");
  const path = decodePath(target);
  if (path === undefined) return undefined;
  const routeKey = `${method} ${path}`;
  const headers = Object.entries(headersDistinct).map(([name, values = []]) => [name, values.join()]);
  return {
    version: "2.0",
    routeKey,
    rawPath: path,
    rawQueryString: query.join("?"),
    headers: Object.fromEntries(headers) as Readonly<Record<string, string>>,
    requestContext: {
      http: { method, path, sourceIp: socket.remoteAddress },
      requestId,
      routeKey,
      stage: "$default",
    },
  };
}

function decodePath(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

/** Builds the event of the route's function. */
export function buildFunctionEvent(event: RequestEvent, body: Buffer, authorizerContext: object) {
  const isBase64Encoded = body.length > 0 && !isTextType(event.headers["content-type"]);
  return {
    ...event,
    requestContext: { ...event.requestContext, authorizer: { lambda: authorizerContext } },
    ...(body.length > 0 && { body: body.toString(isBase64Encoded ? "base64" : "utf8") }),
    isBase64Encoded,
  };
}

/**
 * Whether a body of this type is passed as text, decoded as UTF-8. All others are passed in base64. AWS does not document the
 * types (docs/assumptions.md#base64-bodies): users observed these, and base64 for `text/plain` in another charset.
 *
 * @see https://github.com/ministackorg/ministack/pull/766
 * @see https://github.com/floci-io/floci/issues/2172
 */
function isTextType(contentType = ""): boolean {
  const [mediaType = "", ...parameters] = contentType.toLowerCase().split(/\s*;\s*/);
  const charset = parameters.find((parameter) => parameter.startsWith("charset=")) ?? "charset=utf-8";
  return (
    /^\s*(text\/.*|application\/(json|xml|javascript|graphql))\s*$/.test(mediaType) &&
    /^charset="?utf-8"?\s*$/.test(charset)
  );
}
