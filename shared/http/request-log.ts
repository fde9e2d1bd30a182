import type { Request } from "@middy/core";
import type { APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import { takeUnits } from "../dynamodb/table-client.ts";
import { ApiError } from "../errors.ts";
import * as logEvents from "../logging/log-events.ts";
import { release } from "../logging/logged-error.ts";
import type { RouteEvent } from "./route-event.ts";

/**
 * Logs each request of a route when its response is ready: middy's `requestEnd` hook, which also sees the responses that
 * a middleware returned early. CloudWatch counts the stack's metrics from these lines, which contain nothing that a caller
 * wrote.
 */
export function requestLog(route: string) {
  return ({ event, response, error }: Request): void => {
    // If the function returns nothing, API Gateway responds with a 500.
    const { statusCode = 500, headers = {} }: APIGatewayProxyStructuredResultV2 = response ?? {};
    const { requestId, authorizer } = (event as RouteEvent).requestContext;
    console.info({
      event: logEvents.request,
      route,
      status: statusCode,
      ...(error instanceof ApiError && { code: error.code }),
      // A replayed request has written nothing.
      replayed: headers["idempotency-replayed"] === "true",
      account: authorizer?.lambda?.accountId,
      // The same id as in the access log.
      requestId,
      release,
      ...takeUnits(),
    });
  };
}
