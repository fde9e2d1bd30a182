import { KeyThrottledError } from "../dynamodb/dynamodb-errors.ts";
import { rateWindowKey } from "../dynamodb/keys.ts";
import type { Key } from "../dynamodb/table-client.ts";
import * as logEvents from "../logging/log-events.ts";
import { loggedError } from "../logging/logged-error.ts";
import { learnLimit } from "./account-limit.ts";
import { type AccountWindow, RateWindows } from "./rate-windows.ts";
import { addUsed } from "./used-requests.ts";

/** How many requests an account may make in a window; windows start at multiples of their length. */
export interface RateLimit {
  readonly requests: number;
  readonly seconds: number;
}

/** The limit of every account that has none of its own; undefined without one. */
export const rateLimit: RateLimit | undefined = readRateLimit();

function readRateLimit(): RateLimit | undefined {
  if (process.env.RATE_LIMIT_REQUESTS === undefined) return undefined;
  return { requests: readCount("RATE_LIMIT_REQUESTS"), seconds: readCount("RATE_LIMIT_SECONDS") };
}

function readCount(name: string): number {
  const value = process.env[name] ?? "";
  if (!/^[1-9]\d{0,8}$/.test(value)) throw new Error(`${name} must be a whole number above 0.`);
  return Number(value);
}

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
 * few at a time, so a busy account costs few writes. An account that was refused stays refused until the window ends,
 * without another call.
 *
 * An account whose item is throttled asks for more leases than one item can count: it is refused for a second or two, in
 * which this environment does not ask again. When the table fails in another way, the limiter fails open for all
 * accounts that it has not refused.
 *
 * An account's own limit is read beside its first lease in a window, and again after a minute. While it cannot be read,
 * the limit that is known applies: at first, that of the stage.
 *
 * @param limit of an account that has none of its own
 * @param timeout how long a lease may take, in milliseconds
 * @returns a permit, or a promise of one when it needs a lease
 */
export function rateLimiter(limit: RateLimit, timeout = 500): (account: string) => Permit | Promise<Permit> {
  const { seconds } = limit;
  const windows = new RateWindows(limit);
  let failOpenUntil = 0;

  /** Leases permits: one at a time if other environments have left too few. */
  async function lease(
    account: string,
    key: Key,
    known: AccountWindow,
    abortSignal: AbortSignal,
  ): Promise<void> {
    const count = Math.max(1, Math.min(known.lease, Math.floor(known.remaining * largestShare)));
    const window = { count, requests: known.requests, expiresAt: Number(key.sk) + 2 * seconds };
    const [adding, learning] = await Promise.allSettled([
      addUsed(key, window, abortSignal),
      learnLimit(account, known, limit.requests, abortSignal),
    ]);
    if (adding.status === "rejected") throw adding.reason;
    if (learning.status === "rejected")
      console.warn({ event: logEvents.accountLimitUnknown, cause: loggedError(learning.reason) });
    const { added, used } = adding.value;
    known.remaining = Math.max(0, known.requests - used);
    if (added) {
      // Less what is over the limit, if that turned out to be lower.
      known.permits += Math.max(0, Math.min(count, count + known.requests - used));
      known.lease = Math.min(count * 2, largestLease);
    } else if (known.remaining > 0) {
      // Fewer, or up to the limit that turned out to be higher.
      await lease(account, key, known, abortSignal);
    }
  }

  function failed(known: AccountWindow, error: unknown): void {
    if (error instanceof KeyThrottledError) {
      // Environments that were throttled together must not ask together again.
      known.throttledUntil = Date.now() + throttledTime * (1 + Math.random());
      return;
    }
    failOpenUntil = Date.now() + failOpenTime;
    console.warn({ event: logEvents.rateLimiterFailedOpen, cause: loggedError(error) });
  }

  /** Takes one of the leased permits; an account that was refused stays refused when the limiter fails open. */
  function takePermit(known: AccountWindow): Permit {
    const now = Date.now();
    const { permits, remaining, throttledUntil } = known;
    if (permits === 0 && remaining > 0 && now < throttledUntil)
      return {
        granted: false,
        requests: known.requests,
        remaining: 0,
        reset: Math.ceil((throttledUntil - now) / 1000),
      };
    known.permits = Math.max(0, permits - 1);
    return {
      requests: known.requests,
      granted: permits > 0 || (remaining > 0 && now < failOpenUntil),
      remaining: remaining + known.permits,
      reset: Math.max(1, Math.ceil(windows.end - now / 1000)),
    };
  }

  return (account) => {
    const now = Date.now();
    const known = windows.of(account, now);
    const waitsUntil = Math.max(failOpenUntil, known.throttledUntil);
    const isRefused = known.remaining === 0 && now < known.limitUntil;
    if (known.permits > 0 || isRefused || now < waitsUntil) return takePermit(known);
    const key = rateWindowKey(account, windows.start);
    return lease(account, key, known, AbortSignal.timeout(timeout))
      .catch((error: unknown) => failed(known, error))
      .then(() => takePermit(known));
  };
}
