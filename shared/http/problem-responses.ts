import type { MiddlewareObj } from "@middy/core";
import { busy, isBusyTable } from "../dynamodb/retry.ts";
import { ApiError, problems } from "../errors.ts";
import { loggedError } from "../logging/logged-error.ts";
import { invalidInput, toFaults } from "./faults.ts";
import type { RouteEvent } from "./route-handler.ts";

/** How many faults one answer lists at the most. */
const maxFaults = 100;

/**
 * Answers every error as a problem document; an error that nobody threw on purpose is logged and says nothing of
 * the inside.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9457
 */
export function problemResponses(): MiddlewareObj<RouteEvent> {
  return {
    onError: (request) => {
      const { requestId } = request.event.requestContext;
      const error = toApiError(request.error, request.event);
      // The log of requests, which comes after, tells what was answered.
      request.error = error;
      if (problems[error.code].status >= 500) logError(error, requestId);
      request.response = problemResponse(error, requestId);
    },
  };
}

function toApiError(error: unknown, event: RouteEvent): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof Error) {
    if (isValidatorCause(error.cause)) {
      return invalidInput([...toFaults(error.cause.data, event), ...(event.faults ?? [])]);
    }
    if (isBusyTable(error)) return busy(error);
  }
  return new ApiError("internal_error", "Something went wrong here. It has been logged.", { cause: error });
}

const isValidatorCause = (
  cause: unknown,
): cause is { package: string; data: Parameters<typeof toFaults>[0] } =>
  typeof cause === "object" && cause !== null && "package" in cause && cause.package === "@middy/validator";

function logError({ code, message, cause }: ApiError, requestId: string): void {
  console.error({ event: "request failed", code, detail: message, requestId, cause: loggedError(cause) });
}

/** The answer that an error gives. */
export function problemResponse({ code, message, faults, retryAfter }: ApiError, requestId: string) {
  const { status, title } = problems[code];
  return {
    statusCode: status,
    headers: {
      "content-type": "application/problem+json",
      "cache-control": "no-store",
      ...(retryAfter !== undefined && { "retry-after": String(retryAfter) }),
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
