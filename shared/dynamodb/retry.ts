import { setTimeout } from "node:timers/promises";
import { ApiError } from "../errors.ts";
import { isRetryable } from "./dynamodb-errors.ts";

/** Seconds after which a caller may retry. */
const retryAfter = 1;

/** The first and the longest backoff, in milliseconds. */
const firstBackoff = 20;
const longestBackoff = 500;

interface RetryOptions {
  readonly isRetryable?: (error: unknown) => boolean;
  readonly wait?: (milliseconds: number) => Promise<unknown>;
}

/**
 * Repeats an attempt until it succeeds, fails for good, or the deadline is near, with exponential backoff and full
 * jitter.
 *
 * @param deadline in milliseconds since the epoch
 * @throws ApiError `busy` when no attempt succeeded in time
 * @see https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
 */
export async function withRetry<T>(
  deadline: number,
  attempt: () => Promise<T>,
  options: RetryOptions = {},
): Promise<T> {
  const { isRetryable: mayRetry = isRetryable, wait = setTimeout } = options;
  for (let backoff = firstBackoff; ; backoff = Math.min(backoff * 2, longestBackoff)) {
    try {
      return await attempt();
    } catch (error) {
      if (!mayRetry(error)) throw error;
      const delay = Math.random() * backoff;
      if (Date.now() + delay >= deadline) throw busy(error);
      await wait(delay);
    }
  }
}

/** The error of a table that is too busy, with the time after which to retry. */
export const busy = (cause: unknown) =>
  new ApiError("busy", "The service is busy. Try again.", { retryAfter, cause });
