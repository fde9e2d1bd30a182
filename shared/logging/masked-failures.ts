import { loggedError } from "./logged-error.ts";

/**
 * A Lambda handler that logs by itself what it fails with, and throws in its place an error that says nothing: Lambda
 * writes all of a thrown error to the log and to the trace, and API Gateway its message to the access log.
 */
export function maskedFailures<Arguments extends unknown[], Result>(
  handler: (...given: Arguments) => Promise<Result>,
) {
  return async (...given: Arguments): Promise<Result> => {
    try {
      return await handler(...given);
    } catch (error) {
      console.error({ event: "function failed", cause: loggedError(error) });
      throw new Error("The function failed. Its log says where.");
    }
  };
}
