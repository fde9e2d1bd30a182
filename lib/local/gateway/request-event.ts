import { randomBytes } from "node:crypto";
import type { ApiRoute } from "../template/api-definition.ts";
import { localAccountId, localRegion } from "../template/intrinsics.ts";
import { type HttpRequest, parseQuery } from "./http-request.ts";

/** What the gateway knows of a request beside the request itself. */
interface RequestMeta {
  readonly route: ApiRoute;
  readonly apiId: string;
  readonly requestId: string;
  readonly at: Date;
}

/** What of the event is the same for a function and for the authorizer before it. */
export type RequestEvent = ReturnType<typeof requestEvent>;

const months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

/** A request id of the gateway's form. */
export const newRequestId = () => randomBytes(11).toString("base64");

/**
 * The payload, format 2.0, that a request becomes, up to its body and its authorizer.
 *
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
 */
export function requestEvent(request: HttpRequest, { route, apiId, requestId, at }: RequestMeta) {
  const { method, path, query, headers, cookies, protocol, sourceIp, port } = request;
  const routeKey = `${route.method} ${route.path}`;
  return {
    version: "2.0",
    routeKey,
    rawPath: path,
    rawQueryString: query,
    ...(cookies.length > 0 && { cookies }),
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
      time: requestTime(at),
      timeEpoch: at.getTime(),
    },
  };
}

/** The event of the route's function. */
export function functionEvent(event: RequestEvent, body: Buffer, authorizerContext?: object) {
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

/** The event of the route's authorizer: it sees no body. */
export function authorizerEvent(event: RequestEvent, identitySource: readonly string[]) {
  const { apiId, http } = event.requestContext;
  const routeArn = `arn:aws:execute-api:${localRegion}:${localAccountId}:${apiId}/$default/${http.method}${http.path}`;
  return { ...event, type: "REQUEST", routeArn, identitySource };
}

/** Whether a body of the type is passed on as text: no other is. */
function isText(contentType = ""): boolean {
  const [mediaType = ""] = contentType.toLowerCase().split(";");
  return /^(text\/.*|application\/(json|xml|javascript))$/.test(mediaType.trim());
}

function requestTime(at: Date): string {
  const [, year, month, day, time] = /^(\d+)-(\d+)-(\d+)T([\d:]+)/.exec(at.toISOString()) ?? [];
  return `${day}/${months[Number(month) - 1]}/${year}:${time} +0000`;
}
