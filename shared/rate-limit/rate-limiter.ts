import { TooManyAtOnceError } from "../dynamodb/dynamodb-errors.ts";
import { rateWindowKey } from "../dynamodb/keys.ts";
import type { Key } from "../dynamodb/table-client.ts";
import * as logEvents from "../logging/log-events.ts";
import { loggedError } from "../logging/logged-error.ts";
import { addUsed } from "./used-requests.ts";

/** The length of a window in seconds. Windows start at multiples of it. */
export const windowSeconds = 60;

const { RATE_LIMIT_REQUESTS } = process.env;

/** How many requests an account without a limit of its own may make in a window; undefined if the stage has no limits. */
export const rateLimit = RATE_LIMIT_REQUESTS === undefined ? undefined : Number(RATE_LIMIT_REQUESTS);

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

/** The state of an account in a window, as far as this environment knows. */
interface AccountWindow {
  /** When the window starts, in seconds since the epoch. */
  readonly start: number;
  /** The permits that are left; below 0 while requests have borrowed some. */
  permits: number;
  /** How many permits the next lease takes. */
  lease: number;
  /** Requests of the account that all environments had leased when this environment last asked. */
  used: number;
  /** What to decide without a permit and without asking the table, until a time in milliseconds since the epoch. */
  decision: { readonly granted: boolean; readonly until: number };
}

/** How many accounts an environment remembers. A forgotten account costs another lease. */
const maxAccounts = 10_000;

/** The most permits of a lease. The first lease has one permit, and each later lease has twice as many as the last. */
const largestLease = 10;

/** The largest part of the remaining requests that one lease takes. It is small, because unused permits are lost. */
const largestShare = 0.02;

/** How long an account's requests are granted after an error of the table, in milliseconds. */
const failOpenTime = 5000;

/** The shortest time for which an account is refused after a throttle, in milliseconds. The longest is twice that. */
const throttledTime = 1000;

/** How long a request waits for a lease, in milliseconds. */
const leaseTimeout = 1000;

/**
 * Creates the limiter: a function that decides whether an account may make a request. It leases permits from the table a
 * few at a time, so a busy account costs few writes. An account that was refused stays refused, without another call,
 * until the window ends or its limit is raised.
 *
 * An account whose item is throttled asks for more leases than one item can count. Its requests are refused for a second
 * or two, without another call. When the table fails in another way, its requests are granted for a while. A late lease is
 * no failure, because a slow environment also makes it late: the request borrows the permit that it waited for.
 *
 * @param limit how many requests an account without a limit of its own may make in a window
 * @returns the function, which takes an account and the account's own limit, if it has one
 */
export function rateLimiter(limit: number) {
  const accounts = new Map<string, AccountWindow>();

  /** The state of an account in the window of this moment. A decision outlasts its window. */
  function windowOf(account: string): AccountWindow {
    const start = Math.floor(Date.now() / 1000 / windowSeconds) * windowSeconds;
    const last = accounts.get(account);
    if (last?.start === start) return last;
    const { decision = { granted: false, until: 0 } } = last ?? {};
    const known: AccountWindow = { start, permits: 0, lease: 1, used: 0, decision };
    if (accounts.size >= maxAccounts) accounts.clear();
    accounts.set(account, known);
    return known;
  }

  /** Leases permits until the account has one or its window is used up. The fewer requests remain, the smaller the lease. */
  async function lease(key: Key, known: AccountWindow, requests: number): Promise<void> {
    while (known.permits < 1 && known.used < requests) {
      const count = Math.max(1, Math.min(known.lease, Math.floor((requests - known.used) * largestShare)));
      const window = { count, requests, expiresAt: known.start + 2 * windowSeconds };
      const { added, used } = await addUsed(key, window);
      known.used = used;
      if (!added) continue;
      known.permits += count;
      known.lease = Math.min(count * 2, largestLease);
    }
  }

  function failed(known: AccountWindow, error: unknown): void {
    const now = Date.now();
    if (error instanceof TooManyAtOnceError) {
      // Environments that were throttled together must not ask again together.
      known.decision = { granted: false, until: now + throttledTime * (1 + Math.random()) };
      return;
    }
    known.decision = { granted: true, until: now + failOpenTime };
    console.warn({ event: logEvents.rateLimiterFailedOpen, cause: loggedError(error) });
  }

  /** Takes one of the leased permits, or decides without a permit. An account that was refused stays refused. */
  function takePermit(known: AccountWindow, requests: number, borrows = false): Permit {
    const now = Date.now();
    const { permits, used, decision } = known;
    const remaining = Math.max(0, requests - used);
    const takes = permits > 0 || borrows;
    const decides = !takes && remaining > 0 && now < decision.until;
    if (decides && !decision.granted)
      return { granted: false, requests, remaining: 0, reset: Math.ceil((decision.until - now) / 1000) };
    if (takes) known.permits--;
    return {
      requests,
      granted: takes || decides,
      remaining: remaining + Math.max(0, known.permits),
      reset: Math.max(1, Math.ceil(known.start + windowSeconds - now / 1000)),
    };
  }

  return async (account: string, requests = limit): Promise<Permit> => {
    const known = windowOf(account);
    if (known.permits > 0 || known.used >= requests || Date.now() < known.decision.until)
      return takePermit(known, requests);
    const key = rateWindowKey(account, known.start);
    // A late lease adds its permits when it arrives.
    const late = new Promise<"late">((resolve) => setTimeout(resolve, leaseTimeout, "late").unref());
    const first = await Promise.race([lease(key, known, requests), late]).catch((error: unknown) =>
      failed(known, error),
    );
    return takePermit(known, requests, first === "late");
  };
}
