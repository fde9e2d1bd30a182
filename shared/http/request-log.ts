import type { Request } from "@middy/core";
import type { APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import { takeUnits } from "../dynamodb/table-client.ts";
import { ApiError, type ProblemCode } from "../errors.ts";
import * as logEvents from "../logging/log-events.ts";
import { release } from "../logging/release.ts";
import type { RouteEvent } from "./route-event.ts";

/**
 * The log line of every request that reached its function; CloudWatch counts the stack's metrics from it. It contains
 * nothing that a caller wrote.
 */
export interface RequestLine {
  readonly event: typeof logEvents.request;
  readonly route: string;
  readonly status: number;
  /** The problem of the response, if it is one. */
  readonly code?: ProblemCode;
  /** Whether the response repeats that of an earlier request, and nothing was written. */
  readonly replayed: boolean;
  readonly account: string | undefined;
  /** The id that API Gateway gave the request, as in the access log. */
  readonly requestId: string;
  readonly release: string | undefined;
  /** The units of the table that it consumed. */
  readonly reads: number;
  readonly writes: number;
}

/**
 * Logs each request of a route when its response is ready: middy's `requestEnd` hook, which also sees the responses that
 * a middleware returned early.
 */
export function requestLog(route: string) {
  return ({ event, response, error }: Request): void => {
    // API Gateway responds for a function that returns nothing.
    const { statusCode = 500, headers = {} }: APIGatewayProxyStructuredResultV2 = response ?? {};
    const { requestId, authorizer } = (event as RouteEvent).requestContext;
    const line: RequestLine = {
      event: logEvents.request,
      route,
      status: statusCode,
      ...(error instanceof ApiError && { code: error.code }),
      replayed: headers["idempotency-replayed"] === "true",
      account: authorizer?.lambda?.accountId,
      requestId,
      release,
      ...takeUnits(),
    };
    console.info(line);
  };
}
