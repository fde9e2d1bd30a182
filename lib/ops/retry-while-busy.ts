import { isBusy } from "../../shared/dynamodb/dynamodb-errors.ts";
import { withRetry } from "../../shared/dynamodb/retry.ts";

/** How long a call of a long command is retried after the SDK's own retries, in milliseconds. */
const busyTimeout = 60_000;

/** Waits for a time in milliseconds, like `setTimeout`. */
export type Wait = (milliseconds: number) => Promise<unknown>;

/** Retries a call while the table throttles it or cannot be reached, so that a short outage does not end a long command. */
export const retryWhileBusy = <T>(call: () => Promise<T>, wait?: Wait): Promise<T> =>
  withRetry(call, { deadline: Date.now() + busyTimeout, isRetryable: isBusy, ...(wait && { wait }) });
