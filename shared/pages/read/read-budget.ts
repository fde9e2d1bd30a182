import { TooExpensiveError } from "../../dynamodb/dynamodb-errors.ts";
import type { ReadOptions } from "../../dynamodb/table-client.ts";
import { withBackoff } from "../../dynamodb/throttling.ts";
import { admitLongList } from "../../rate-limit/list-admission.ts";

/** How many table calls a list may make. */
const maxCalls = 12;

/** How many read units a list may consume: what a partition key provides in a second. */
const maxUnits = 3000;

/** How long a list may take, in milliseconds. */
const longestList = 3000;

/**
 * A list is long if it makes more calls, consumes more read units, or takes longer (in milliseconds) than these.
 * Ordinary pages need up to six calls, windows up to nine.
 */
const shortCalls = 9;
const shortUnits = 256;
const shortTime = 500;

/** Makes a call to the table with options for the client. */
export type Call = <T>(send: (options: ReadOptions) => Promise<T>) => Promise<T>;

/**
 * Runs the calls of a list within its budget of calls, read units and time. After a list was throttled or not admitted,
 * lists of the same range back off: they leave the partition's capacity to its writers and to the maintainer of its counts.
 *
 * @param id identifies the range
 * @throws TooExpensiveError when the budget is used up
 * @throws TooManyAtOnceError when the range backs off, and the errors of `admitLongList`
 */
export const withinBudget = <T>(account: string, id: string, read: (call: Call) => Promise<T>): Promise<T> =>
  withBackoff(id, "Too much of this list is read at once.", () => {
    const start = Date.now();
    const abortSignal = AbortSignal.timeout(longestList);
    let [calls, units] = [0, 0];
    let admitted: Promise<unknown> | undefined;
    const onUnits = (used: number) => {
      units += used;
    };
    const call: Call = async (send) => {
      calls++;
      const time = Date.now() - start;
      if (calls > maxCalls || units > maxUnits)
        throw new TooExpensiveError("too_many_reads", "The list has too many rows.");
      if (time >= longestList) throw new TooExpensiveError("too_slow", "The list took too long.");
      if (calls > shortCalls || units > shortUnits || time > shortTime) {
        admitted ??= admitLongList(account);
        await admitted;
      }
      try {
        return await send({ abortSignal, onUnits });
      } catch (error) {
        if (abortSignal.aborted)
          throw new TooExpensiveError("too_slow", "The list took too long.", { cause: error });
        throw error;
      }
    };
    return read(call);
  });

/** Whether a list has used up its budget of calls or read units. */
export const isTooMuch = (error: unknown) =>
  error instanceof TooExpensiveError && error.code === "too_many_reads";
