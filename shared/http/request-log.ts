import type { Request } from "@middy/core";
import type { APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import { ApiError, type ProblemCode } from "../errors.ts";
import type { RouteName } from "../routes.ts";
import type { RouteEvent } from "./route-handler.ts";

/**
 * What the log holds of every request that reached its function; the stack's metrics are counted from it. Nothing that
 * a caller wrote is in it.
 */
export interface RequestLine {
  readonly event: "request";
  readonly route: RouteName;
  readonly status: number;
  /** Which problem was answered, if one was. */
  readonly code?: ProblemCode;
  /** Whether an earlier request's answer was given again, and nothing written. */
  readonly replayed: boolean;
  readonly account: string | undefined;
  /** API Gateway's, as in the access log. */
  readonly requestId: string;
}

/**
 * Logs each request of a route when its answer is ready: middy's `requestEnd` hook, which also sees answers that a
 * middleware gave early.
 */
export function requestLog(route: RouteName) {
  return ({ event, response, error }: Request): void => {
    // What left no answer behind is answered by API Gateway.
    const { statusCode = 500, headers = {} }: APIGatewayProxyStructuredResultV2 = response ?? {};
    const { requestId, authorizer } = (event as RouteEvent).requestContext;
    const line: RequestLine = {
      event: "request",
      route,
      status: statusCode,
      ...(error instanceof ApiError && { code: error.code }),
      replayed: headers["idempotency-replayed"] === "true",
      account: authorizer?.lambda?.accountId,
      requestId,
    };
    console.info(line);
  };
}
