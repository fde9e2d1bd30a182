import { ProvisionedThroughputExceededException, ThrottlingException } from "@aws-sdk/client-dynamodb";
import { isThrottlingError, isTransientError } from "@smithy/core/retry";
import { isRetryable, TooExpensiveError } from "./dynamodb-errors.ts";
import { withRetry } from "./retry.ts";

/*
 * What happens when the table throttles a call of a route, or another write comes first:
 *
 * 1. The SDK makes a second attempt of a single call (`table-client.ts`).
 * 2. A transaction that was canceled is repeated for a short time (`retryBriefly`).
 * 3. If the account caused it (`isHot`), further work on the same thing fails at once for a while (`withBackoff`).
 * 4. The response is 429 `too_many_at_once` then, and 503 `busy` otherwise (`isBusy`), each with `Retry-After`
 *    (`shared/http/problem-responses.ts`).
 *
 * Commands and audits slow down instead (`pace.ts`).
 */

/** Thrown when an account asks for too much at once of something of its own, such as a conversation or a list. */
export class TooManyAtOnceError extends Error {
  override readonly name = "TooManyAtOnceError";
  /** Until when this environment refuses more of it, in milliseconds since the epoch. */
  readonly until: number;

  constructor(message: string, { until = 0, cause }: { until?: number; cause?: unknown } = {}) {
    super(message, { cause });
    this.until = until;
  }
}

/**
 * Whether an account used something of its own too much at once: other writers won, or its partition was throttled. The
 * reasons of a cancelled transaction do not tell which limit throttled it.
 */
export const isHot = (error: unknown) =>
  error instanceof TooManyAtOnceError || isRetryable(error) || isKeyThrottled(error);

/** Whether the table throttled the call, after all of the SDK's retries. */
export const isThrottled = (error: unknown) => error instanceof Error && isThrottlingError(error as SdkError);

/**
 * Whether the table throttled an attempt because of the partition that its key is in. The other reasons are limits of the
 * table and of the AWS account. A throttle without a reason counts as one of the partition.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ThrottlingReason.html
 */
export function isKeyThrottled(error: unknown): boolean {
  const reasons = throttlingReasons(error);
  return (
    reasons !== undefined &&
    (reasons.length === 0 || reasons.some(({ reason = "" }) => reason.endsWith("KeyRangeThroughputExceeded")))
  );
}

/** The reasons of a throttle; undefined for another error. The SDK's two classes write them differently. */
function throttlingReasons(error: unknown) {
  if (error instanceof ThrottlingException) return error.throttlingReasons ?? [];
  if (error instanceof ProvisionedThroughputExceededException) return error.ThrottlingReasons ?? [];
  return undefined;
}

/** Whether the table could not be reached or throttled the call, after all of the SDK's retries. */
export const isTableBusy = (error: unknown) =>
  isThrottled(error) || (error instanceof Error && isTransientError(error as SdkError));

type SdkError = Parameters<typeof isTransientError>[0];

/** Whether the cause is the load on the table, or other writers that won: the caller may try again. */
export const isBusy = (error: unknown) =>
  isHot(error) || isTableBusy(error) || error instanceof TooExpensiveError;

/**
 * How long a write is retried after it first lost against other writers, and its longest backoff, in milliseconds. The
 * requests of one account must not keep the execution environments of all others: docs/capacity.md has the bound.
 */
const patience = 200;
const longestRetryBackoff = 100;

/**
 * Repeats an attempt for a short time after it first lost against other writers.
 *
 * @throws the error of the last attempt
 */
export function retryBriefly<T>(attempt: () => Promise<T>): Promise<T> {
  let end = Number.POSITIVE_INFINITY;
  return withRetry(attempt, {
    isRetryable: (error) => {
      end = Math.min(end, Date.now() + patience);
      return isRetryable(error) && Date.now() < end;
    },
    deadline: Number.POSITIVE_INFINITY,
    longestBackoff: longestRetryBackoff,
  });
}

/** The first and the longest backoff, in milliseconds. */
const firstBackoff = 100;
const longestBackoff = 5000;

/** What backs off in this environment, by its id. */
const backoffs = new Map<string, { readonly until: number; readonly longest: number }>();

/** More than an environment works on in a few seconds. */
const maxBackoffs = 1000;

/**
 * Works on something of an account, such as a conversation or the rows of a list. After it was hot, work on it fails at
 * once for a while, with exponential backoff and full jitter: the environment does not wait with those that would lose.
 *
 * @param id identifies it
 * @param refusal a sentence for the caller
 * @throws TooManyAtOnceError when it is hot, or while it backs off
 */
export async function withBackoff<T>(id: string, refusal: string, work: () => Promise<T>): Promise<T> {
  const { until = 0, longest = firstBackoff / 2 } = backoffs.get(id) ?? {};
  if (Date.now() < until) throw new TooManyAtOnceError(refusal, { until });
  try {
    const result = await work();
    backoffs.delete(id);
    return result;
  } catch (error) {
    if (!isHot(error)) throw error;
    const next = Math.min(longest * 2, longestBackoff);
    const backoff = { until: Date.now() + Math.random() * next, longest: next };
    if (backoffs.size >= maxBackoffs) backoffs.clear();
    backoffs.set(id, backoff);
    const message = error instanceof TooManyAtOnceError ? error.message : refusal;
    throw new TooManyAtOnceError(message, { until: backoff.until, cause: error });
  }
}
