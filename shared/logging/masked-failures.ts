import * as logEvents from "./log-events.ts";
import { loggedError, release } from "./logged-error.ts";

/**
 * Makes a Lambda handler log its failures and throw an error without details instead. Lambda writes all of a thrown error
 * to the log, and API Gateway writes its message to the access log.
 */
export function maskedFailures<Arguments extends unknown[], Result>(
  handler: (...args: Arguments) => Promise<Result>,
) {
  return async (...args: Arguments): Promise<Result> => {
    try {
      return await handler(...args);
    } catch (error) {
      // API Gateway's id of the request, which the response also has; undefined for an event without a request.
      const requestId: unknown = Object(args[0]).requestContext?.requestId;
      console.error({ event: logEvents.functionFailed, release, requestId, cause: loggedError(error) });
      throw new Error("The function failed. Its log says where.");
    }
  };
}
