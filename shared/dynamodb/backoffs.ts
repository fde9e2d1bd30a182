import { isHot, TooManyAtOnceError } from "./dynamodb-errors.ts";

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
