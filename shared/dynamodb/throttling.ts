import { isContended, isOfKind, TooManyAtOnceError } from "./dynamodb-errors.ts";
import { withRetry } from "./retry.ts";

/*
 * What happens when the table throttles a call of a route, or another write comes first:
 *
 * 1. The SDK makes a second attempt of a single call (`table-client.ts`).
 * 2. A transaction that was canceled is retried for a short time (`retryBriefly`).
 * 3. If the account caused it (`isContended`), further work on the same thing fails at once for a while (`withBackoff`).
 * 4. The response is 429 `too_many_at_once` then, and 503 `busy` otherwise (`isBusy`), each with `Retry-After`
 *    (`shared/http/problem-responses.ts`).
 *
 * Commands and audits slow down instead (`pace.ts`).
 */

/**
 * How long a write is retried after it first lost against other writers, and its longest backoff, in milliseconds. The
 * requests of one account must not occupy the execution environments of all accounts: docs/capacity.md has the bound.
 */
const retryTime = 200;
const longestBackoff = 100;

/** Repeats an attempt for a short time after it first lost against other writers. @throws the error of the last attempt */
export function retryBriefly<T>(attempt: () => Promise<T>): Promise<T> {
  let end = Number.POSITIVE_INFINITY;
  return withRetry(attempt, {
    isRetryable: (error) => {
      end = Math.min(end, Date.now() + retryTime);
      return isOfKind(error, "conflict", "transaction-throttled") && Date.now() < end;
    },
    deadline: Number.POSITIVE_INFINITY,
    longestBackoff,
  });
}

/** The first and the longest refusal, in milliseconds. */
const firstRefusal = 100;
const longestRefusal = 5000;

/** What backs off in this environment, by the id of `withBackoff`. */
const backoffs = new Map<string, { readonly until: number; readonly longest: number }>();

/** More than an environment works on in a few seconds. */
const maxBackoffs = 1000;

/**
 * Works on something of an account, such as a conversation or the rows of a list. After contention, further work on the same
 * thing fails at once for a while, with exponential backoff and full jitter: no environment waits for work that would lose.
 *
 * @param refusal a sentence for the caller
 * @throws TooManyAtOnceError when the work is contended, or while it backs off
 */
export async function withBackoff<T>(id: string, refusal: string, work: () => Promise<T>): Promise<T> {
  const { until = 0, longest = firstRefusal / 2 } = backoffs.get(id) ?? {};
  if (Date.now() < until) throw new TooManyAtOnceError(refusal, { until });
  try {
    const result = await work();
    backoffs.delete(id);
    return result;
  } catch (error) {
    if (!isContended(error)) throw error;
    const next = Math.min(longest * 2, longestRefusal);
    const backoff = { until: Date.now() + Math.random() * next, longest: next };
    if (backoffs.size >= maxBackoffs) backoffs.clear();
    backoffs.set(id, backoff);
    const message = error instanceof TooManyAtOnceError ? error.message : refusal;
    throw new TooManyAtOnceError(message, { until: backoff.until, cause: error });
  }
}
