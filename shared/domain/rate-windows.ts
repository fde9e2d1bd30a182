import type { KnownLimit } from "./account-limit.ts";

/** The state of an account in the current window, as far as this environment knows. */
export interface AccountWindow extends KnownLimit {
  permits: number;
  /** How many permits the next lease takes. */
  lease: number;
  remaining: number;
  /** Until when the account is refused because the table throttled its item, in milliseconds since the epoch. */
  throttledUntil: number;
}

/** How many accounts an environment remembers. One that it forgets costs another lease. */
export const maxAccounts = 10_000;

/** What an environment remembers of the accounts that it has served in the current window. */
export class RateWindows {
  /** When the window starts, in seconds since the epoch. */
  start = 0;
  readonly #requests: number;
  readonly #seconds: number;
  #accounts = new Map<string, AccountWindow>();

  constructor({ requests, seconds }: { readonly requests: number; readonly seconds: number }) {
    this.#requests = requests;
    this.#seconds = seconds;
  }

  /** The state of an account. @param now in milliseconds since the epoch */
  of(account: string, now: number): AccountWindow {
    const start = Math.floor(now / 1000 / this.#seconds) * this.#seconds;
    if (start !== this.start) this.#begin(start, now);
    const known = this.#accounts.get(account) ?? this.#unused(0);
    this.#accounts.set(account, known);
    const [oldest] = this.#accounts.keys();
    if (this.#accounts.size > maxAccounts && oldest !== undefined) this.#accounts.delete(oldest);
    return known;
  }

  /** When the window ends, in seconds since the epoch. */
  get end(): number {
    return this.start + this.#seconds;
  }

  /** Forgets the window before, but for throttles that last. */
  #begin(start: number, now: number): void {
    this.start = start;
    const throttled = [...this.#accounts].filter(([, { throttledUntil }]) => throttledUntil > now);
    this.#accounts = new Map(
      throttled.map(([account, { throttledUntil }]) => [account, this.#unused(throttledUntil)]),
    );
  }

  #unused = (throttledUntil: number): AccountWindow => ({
    ...{
      requests: this.#requests,
      limitUntil: 0,
      permits: 0,
      lease: 1,
      remaining: this.#requests,
      throttledUntil,
    },
  });
}
