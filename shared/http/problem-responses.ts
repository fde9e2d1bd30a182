import type { MiddlewareObj } from "@middy/core";
import { isBusy, UnknownOutcomeError } from "../dynamodb/dynamodb-errors.ts";
import { ApiError, problems } from "../errors.ts";
import * as logEvents from "../logging/log-events.ts";
import { loggedError } from "../logging/logged-error.ts";
import type { Route } from "../routes.ts";
import { invalidInput, maxFaults } from "./faults.ts";
import { validationErrors } from "./request-validator.ts";
import type { RouteEvent } from "./route-event.ts";
import { toFaults } from "./schema-faults.ts";

/** Seconds after which a caller may retry when the service is busy. */
const retryAfter = 1;

/**
 * Responds to every error with a problem document. An unexpected error is logged, and its response says nothing about
 * the inside.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9457
 */
export function problemResponses(route: Route): MiddlewareObj<RouteEvent> {
  return {
    onError: (request) => {
      const { requestId } = request.event.requestContext;
      const error = toApiError(request.error, request.event, route);
      // The log of requests, which runs later, reads its code.
      request.error = error;
      if (problems[error.code].status >= 500) logError(error, requestId);
      request.response = problemResponse(error, requestId);
    },
  };
}

function toApiError(error: unknown, event: RouteEvent, route: Route): ApiError {
  if (error instanceof ApiError) return error;
  const errors = error instanceof Error && validationErrors(error);
  if (errors) return invalidInput([...toFaults(errors, route, event), ...(event.faults ?? [])]);
  if (error instanceof UnknownOutcomeError) return busy(error.cause);
  if (isBusy(error)) return busy(error);
  return new ApiError("internal_error", "Something went wrong here. It has been logged.", { cause: error });
}

const busy = (cause: unknown) =>
  new ApiError("busy", "The service is busy. Try again.", { retryAfter, cause });

function logError({ code, message, cause }: ApiError, requestId: string): void {
  console.error({
    event: logEvents.requestFailed,
    code,
    detail: message,
    requestId,
    cause: loggedError(cause),
  });
}

/** The response for an error. */
export function problemResponse({ code, message, faults, retryAfter, headers }: ApiError, requestId: string) {
  const { status, title } = problems[code];
  return {
    statusCode: status,
    headers: {
      "content-type": "application/problem+json",
      "cache-control": "no-store",
      ...(retryAfter !== undefined && { "retry-after": String(retryAfter) }),
      ...headers,
    },
    body: JSON.stringify({
      type: `urn:problem-type:${code}`,
      title,
      status,
      detail: message,
      code,
      requestId,
      ...(faults.length > 0 && { errors: faults.slice(0, maxFaults) }),
    }),
  };
}
