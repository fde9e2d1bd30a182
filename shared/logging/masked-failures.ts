import * as logEvents from "./log-events.ts";
import { loggedError, release } from "./logged-error.ts";

/**
 * A Lambda handler that logs its failure and throws an error that says nothing in its place: Lambda writes all of a
 * thrown error to the log, and API Gateway writes its message to the access log.
 */
export function maskedFailures<Arguments extends unknown[], Result>(
  handler: (...args: Arguments) => Promise<Result>,
) {
  return async (...args: Arguments): Promise<Result> => {
    try {
      return await handler(...args);
    } catch (error) {
      // The id that the gateway gave to the request, as its response has it; undefined for an event without a request.
      const requestId: unknown = Object(args[0]).requestContext?.requestId;
      console.error({ event: logEvents.functionFailed, release, requestId, cause: loggedError(error) });
      throw new Error("The function failed. Its log says where.");
    }
  };
}
