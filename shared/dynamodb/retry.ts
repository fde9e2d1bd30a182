import { setTimeout } from "node:timers/promises";
import { TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import { isThrottlingError, isTransientError } from "@smithy/core/retry";
import { ApiError } from "../errors.ts";

/** Seconds after which a caller that was turned away as busy may come back. */
const retryAfter = 1;

const firstPause = 20;
const longestPause = 500;

/** Thrown by an attempt that would have changed what is no longer as it was read; it may succeed when made anew. */
export class StaleReadError extends Error {
  override readonly name = "StaleReadError";
  /** The item as it is now, if it was asked for and exists. */
  readonly item: Readonly<Record<string, unknown>>;

  constructor(item: Readonly<Record<string, unknown>> = {}) {
    super("The item has changed since it was read.");
    this.item = item;
  }
}

/**
 * Makes attempts until one succeeds, fails for good, or the deadline is near; between them come pauses of a random
 * part of a doubling time.
 *
 * @param deadline in milliseconds since the epoch
 * @param passes whether an attempt that failed so may succeed later
 * @throws ApiError `busy` when no attempt succeeded in time
 * @see https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
 */
export async function withRetry<T>(
  deadline: number,
  attempt: () => Promise<T>,
  passes: (error: unknown) => boolean = isRetryable,
): Promise<T> {
  for (let pause = firstPause; ; pause = Math.min(pause * 2, longestPause)) {
    try {
      return await attempt();
    } catch (error) {
      if (!passes(error)) throw error;
      const wait = Math.random() * pause;
      if (Date.now() + wait >= deadline) throw busy(error);
      await setTimeout(wait);
    }
  }
}

/** The error of a table that is too busy, which says when to try again. */
export const busy = (cause: unknown) =>
  new ApiError("busy", "Too much is going on at once. Try again.", { retryAfter, cause });

/** The failures of a transaction that pass with time, and that the SDK does not try again by itself. */
const passingReasons = new Set(["TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"]);

function isRetryable(error: unknown): boolean {
  if (error instanceof StaleReadError) return true;
  if (!(error instanceof TransactionCanceledException)) return false;
  return (error.CancellationReasons ?? []).some(({ Code }) => Code !== undefined && passingReasons.has(Code));
}

/** Whether the table could not be reached or turned the call away for its rate, after all that the SDK tried. */
export function isBusyTable(error: unknown): boolean {
  const sdkError = error as Parameters<typeof isTransientError>[0];
  return isThrottlingError(sdkError) || isTransientError(sdkError);
}
