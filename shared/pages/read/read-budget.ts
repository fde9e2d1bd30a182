import { isThrottled, TooExpensiveError } from "../../dynamodb/dynamodb-errors.ts";

/** How many table calls a list may make. */
const maxCalls = 12;

/** How long a list may take, in milliseconds. */
const longestList = 3000;

/**
 * A list that makes more calls than these, takes longer (in milliseconds), or counts more than 1 MB of rows is long.
 * Ordinary pages need up to five calls, windows up to eight.
 */
const shortCalls = 8;
const shortTime = 500;

/**
 * Makes a call to the table with options for the client.
 *
 * @param continues whether it counts on after 1 MB of rows, which makes the list a long one
 */
export type Call = <T>(
  send: (options: { readonly abortSignal: AbortSignal }) => Promise<T>,
  continues?: boolean,
) => Promise<T>;

/** Admits a long list. @throws TooExpensiveError when there are too many */
export type AdmitLongList = () => Promise<unknown>;

/**
 * Runs the calls of a list within its budget of calls and time.
 *
 * After a list was throttled or not admitted, those of the same range fail at once for a while, with exponential backoff
 * and full jitter: they leave the partition's capacity to its writers and to the maintainer of its counts.
 *
 * @param id identifies the range that the list reads
 * @throws TooExpensiveError when the budget is used up, or while lists of the range back off
 */
export async function withinBudget<T>(
  id: string,
  admitLongList: AdmitLongList = async () => {},
  read: (call: Call) => Promise<T>,
): Promise<T> {
  const backoff = backoffs.get(id);
  if (backoff && Date.now() < backoff.until)
    throw new TooExpensiveError("backing_off", "Lists of this range back off.");
  try {
    const admit = () =>
      admitLongList().catch((error: unknown) => {
        backOff(id);
        throw error;
      });
    const result = await read(budgetedCall(admit));
    backoffs.delete(id);
    return result;
  } catch (error) {
    if (isThrottled(error)) backOff(id);
    throw error;
  }
}

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

/** The first and the longest backoff, in milliseconds. */
const firstBackoff = 100;
const longestBackoff = 5000;

/** The ranges whose lists back off in this environment, by their ids. */
const backoffs = new Map<string, { readonly until: number; readonly longest: number }>();

/** More ranges than an environment reads in a few seconds. */
const maxBackoffs = 1000;

function backOff(id: string): void {
  const longest = Math.min((backoffs.get(id)?.longest ?? firstBackoff / 2) * 2, longestBackoff);
  if (backoffs.size >= maxBackoffs) backoffs.clear();
  backoffs.set(id, { until: Date.now() + Math.random() * longest, longest });
}
