import { TooExpensiveError, TooManyAtOnceError } from "../../dynamodb/dynamodb-errors.ts";
import { withBackoff } from "../../dynamodb/throttling.ts";

/** How many table calls a list may make. */
const maxCalls = 12;

/** How long a list may take, in milliseconds. */
const longestList = 3000;

/**
 * A list that makes more calls than these, takes longer (in milliseconds), or counts more than 1 MB of rows is long.
 * Ordinary pages need up to six calls, windows up to nine.
 */
const shortCalls = 9;
const shortTime = 500;

/**
 * How the ids of lists begin that have no counts: those of one lead or email address. How long they are is up to the
 * account alone.
 */
const neverCounted = "by-parent ";

/**
 * Makes a call to the table with options for the client.
 *
 * @param continues whether it counts on after 1 MB of rows, which makes the list a long one
 */
export type Call = <T>(
  send: (options: { readonly abortSignal: AbortSignal }) => Promise<T>,
  continues?: boolean,
) => Promise<T>;

/** Admits a long list. @throws TooManyAtOnceError when there are too many */
export type AdmitLongList = () => Promise<unknown>;

/**
 * Runs the calls of a list within its budget of calls and time. After a list was throttled or not admitted, those of the
 * same range back off: they leave the partition's capacity to its writers and to the maintainer of its counts.
 *
 * @param id identifies the range that the list reads
 * @throws TooExpensiveError when the budget is used up
 * @throws TooManyAtOnceError when the range is hot, or has no counts and too many rows
 */
export const withinBudget = <T>(
  id: string,
  admitLongList: AdmitLongList,
  read: (call: Call) => Promise<T>,
): Promise<T> =>
  withBackoff(id, "Too much of this list is read at once.", () =>
    read(budgetedCall(admitLongList)).catch((error: unknown) => {
      const isTooLong = error instanceof TooExpensiveError && error.code === "too_many_calls";
      if (!isTooLong || !id.startsWith(neverCounted)) throw error;
      throw new TooManyAtOnceError("The list has too many rows.", { cause: error });
    }),
  );

function budgetedCall(admitLongList: AdmitLongList): Call {
  const start = Date.now();
  const abortSignal = AbortSignal.timeout(longestList);
  let calls = 0;
  let admitted: Promise<unknown> | undefined;
  return async (send, continues = false) => {
    calls++;
    const time = Date.now() - start;
    if (calls > maxCalls) throw new TooExpensiveError("too_many_calls", "The list has too many rows.");
    if (time >= longestList) throw new TooExpensiveError("too_slow", "The list took too long.");
    if (continues || calls > shortCalls || time > shortTime) {
      admitted ??= admitLongList();
      await admitted;
    }
    try {
      return await send({ abortSignal });
    } catch (error) {
      if (abortSignal.aborted)
        throw new TooExpensiveError("too_slow", "The list took too long.", { cause: error });
      throw error;
    }
  };
}
