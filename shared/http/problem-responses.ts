import type { MiddlewareObj } from "@middy/core";
import { isBusy, isContended, TooManyAtOnceError } from "../dynamodb/dynamodb-errors.ts";
import { ApiError, invalidInput, maxFaults, problems } from "../errors.ts";
import * as logEvents from "../logging/log-events.ts";
import { loggedError, release } from "../logging/logged-error.ts";
import { chooseBody, type Route } from "../routes.ts";
import type { ValidationError } from "../schemas/validator.ts";
import type { RouteEvent } from "./route-event.ts";
import { toFaults } from "./schema-faults.ts";

/**
 * Responds to every error with a problem document. An unexpected error is logged, and its response reveals no internals.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9457
 */
export function problemResponses(route: Route): MiddlewareObj<RouteEvent> {
  return {
    onError: (request) => {
      const { requestId } = request.event.requestContext;
      const error = toApiError(request.error, request.event, route);
      // The request log, which runs later, reads the code of this error.
      request.error = error;
      // A request to a frozen account is refused on purpose: nothing has failed.
      if (problems[error.code].status >= 500 && error.code !== "account_frozen") logError(error, requestId);
      request.response = problemResponse(error, requestId);
    },
  };
}

function toApiError(error: unknown, event: RouteEvent, route: Route): ApiError {
  if (error instanceof ApiError) return error;
  const { package: source, data = [] }: ValidationCause = Object(Object(error).cause);
  if (source === "@middy/validator") {
    const schemas = { query: route.query, body: chooseBody(route, event.query).schema };
    return invalidInput([...toFaults(data.slice(0, maxFaults), schemas, event), ...(event.faults ?? [])]);
  }
  if (isContended(error)) return tooManyAtOnce(error);
  if (isBusy(error))
    return new ApiError("busy", "The service is busy. Try again.", {
      retryAfter: secondsAfter(Date.now()),
      cause: error,
    });
  return new ApiError("internal_error", "Something went wrong here. It has been logged.", { cause: error });
}

/** The cause of an error of middy's validator. */
type ValidationCause = { readonly package?: string; readonly data?: ValidationError[] };

/** Contention that one account causes is no fault of the service, and must not count in the alarms for 5xx. */
function tooManyAtOnce(error: unknown): ApiError {
  const { message, until } =
    error instanceof TooManyAtOnceError
      ? error
      : new TooManyAtOnceError("Too many requests use the same data of this account at once.");
  const retryAfter = secondsAfter(until);
  return new ApiError("too_many_at_once", `${message} Try again in ${retryAfter} s.`, {
    retryAfter,
    cause: error,
  });
}

/** Whole seconds until a time, plus up to three at random, so that callers refused together do not return together. */
const secondsAfter = (time: number) =>
  1 + Math.floor(Math.max(0, time - Date.now()) / 1000 + Math.random() * 3);

function logError({ code, message, cause }: ApiError, requestId: string): void {
  console.error({
    event: logEvents.requestFailed,
    code,
    detail: message,
    requestId,
    release,
    cause: loggedError(cause),
  });
}

/** The prefix of a problem's type, which the code follows: the stage's page about errors, if the stage has one. */
const typePrefix = process.env.ERRORS_URL ? `${process.env.ERRORS_URL}#` : "urn:problem-type:";

export function problemResponse(error: ApiError, requestId: string) {
  const { code, message } = error;
  const { faults = [], retryAfter, headers, id } = error.details;
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
      type: `${typePrefix}${code}`,
      title,
      status,
      detail: message,
      code,
      requestId,
      ...(id !== undefined && { id }),
      ...(faults.length > 0 && { errors: faults.slice(0, maxFaults) }),
    }),
  };
}
