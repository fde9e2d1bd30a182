import { TooManyAtOnceError } from "../dynamodb/dynamodb-errors.ts";
import { rateWindowKey } from "../dynamodb/keys.ts";
import type { Key } from "../dynamodb/table-client.ts";
import * as logEvents from "../logging/log-events.ts";
import { loggedError } from "../logging/logged-error.ts";
import type { RateLimit } from "./rate-limit.ts";
import { type AccountWindow, RateWindows } from "./rate-windows.ts";
import { addUsed } from "./used-requests.ts";

/** The decision on a request. */
export interface Permit {
  readonly granted: boolean;
  /** How many requests the account may make in a window. */
  readonly requests: number;
  /** Remaining requests of the window, as far as this environment knows; 0 if the table throttles the account. */
  readonly remaining: number;
  /** Seconds until further requests can be granted: at the end of the window, or soon after a throttle. */
  readonly reset: number;
}

/** The first lease has one permit, each later one twice as many, up to this number. */
const largestLease = 10;

/** The largest part of the remaining requests that one lease takes: permits that it does not use are lost. */
const largestShare = 0.02;

/** How long the limiter fails open after an error of the table, in milliseconds. */
const failOpenTime = 5000;

/** How long an account is refused at least after a throttle, in milliseconds; at most twice as long. */
const throttledTime = 1000;

/**
 * Creates the limiter: a function that decides whether an account may make a request. It leases permits from the table a
 * few at a time, so a busy account costs few writes. An account that was refused stays refused until the window ends or
 * it has a higher limit, without another call.
 *
 * An account whose item is throttled asks for more leases than one item can count: it is refused for a second or two, in
 * which this environment does not ask again. When the table fails in another way, the limiter fails open for all
 * accounts that it has not refused.
 *
 * @param limit of an account that has none of its own
 * @param timeout how long a lease may take, in milliseconds
 * @returns the function, which takes an account and its limit, if that is not the stage's. It returns a permit, or a
 *   promise of one when it needs a lease
 */
export function rateLimiter(limit: RateLimit, timeout = 500) {
  const { seconds } = limit;
  const windows = new RateWindows(seconds);
  let failOpenUntil = 0;

  /** Leases permits: one at a time if other environments have left too few. */
  async function lease(
    key: Key,
    known: AccountWindow,
    requests: number,
    abortSignal: AbortSignal,
  ): Promise<void> {
    const count = Math.max(1, Math.min(known.lease, Math.floor((requests - known.used) * largestShare)));
    const window = { count, requests, expiresAt: Number(key.sk) + 2 * seconds };
    const { added, used } = await addUsed(key, window, abortSignal);
    known.used = used;
    if (added) {
      known.permits += count;
      known.lease = Math.min(count * 2, largestLease);
    } else if (used < requests) {
      await lease(key, known, requests, abortSignal);
    }
  }

  function failed(known: AccountWindow, error: unknown): void {
    if (error instanceof TooManyAtOnceError) {
      // Environments that were throttled together must not ask together again.
      known.throttledUntil = Date.now() + throttledTime * (1 + Math.random());
      return;
    }
    failOpenUntil = Date.now() + failOpenTime;
    console.warn({ event: logEvents.rateLimiterFailedOpen, cause: loggedError(error) });
  }

  /** Takes one of the leased permits; an account that was refused stays refused when the limiter fails open. */
  function takePermit(known: AccountWindow, requests: number): Permit {
    const now = Date.now();
    const { permits, used, throttledUntil } = known;
    const remaining = Math.max(0, requests - used);
    if (permits === 0 && remaining > 0 && now < throttledUntil)
      return {
        granted: false,
        requests,
        remaining: 0,
        reset: Math.ceil((throttledUntil - now) / 1000),
      };
    known.permits = Math.max(0, permits - 1);
    return {
      requests,
      granted: permits > 0 || (remaining > 0 && now < failOpenUntil),
      remaining: remaining + known.permits,
      reset: Math.max(1, Math.ceil(windows.end - now / 1000)),
    };
  }

  return (account: string, requests = limit.requests): Permit | Promise<Permit> => {
    const now = Date.now();
    const known = windows.of(account, now);
    const waitsUntil = Math.max(failOpenUntil, known.throttledUntil);
    if (known.permits > 0 || known.used >= requests || now < waitsUntil) return takePermit(known, requests);
    const key = rateWindowKey(account, windows.start);
    return lease(key, known, requests, AbortSignal.timeout(timeout))
      .catch((error: unknown) => failed(known, error))
      .then(() => takePermit(known, requests));
  };
}
