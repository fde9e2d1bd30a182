import { setTimeout } from "node:timers/promises";

/** The first backoff, in milliseconds. */
const firstBackoff = 20;

/** Repeats a call until it succeeds or fails for good. */
export type Retry = <T>(call: () => Promise<T>) => Promise<T>;

interface RetryOptions {
  /** In milliseconds since the epoch. */
  readonly deadline: number;
  readonly isRetryable: (error: unknown) => boolean;
  /** In milliseconds, by default half a second. */
  readonly longestBackoff?: number;
  readonly wait?: (milliseconds: number) => Promise<unknown>;
}

/**
 * Repeats an attempt until it succeeds, fails for good, or the deadline is near, with exponential backoff and full
 * jitter. In addition, the SDK retries each call.
 *
 * @throws the error of the last attempt
 * @see https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
 */
export async function withRetry<T>(
  attempt: () => Promise<T>,
  { deadline, isRetryable, longestBackoff = 500, wait = setTimeout }: RetryOptions,
): Promise<T> {
  for (let backoff = firstBackoff; ; backoff = Math.min(backoff * 2, longestBackoff)) {
    try {
      return await attempt();
    } catch (error) {
      const delay = Math.random() * backoff;
      if (!isRetryable(error) || Date.now() + delay >= deadline) throw error;
      await wait(delay);
    }
  }
}
