/** The state of an account in the current window, as far as this environment knows. */
export interface AccountWindow {
  /** Below 0 while requests have borrowed some. */
  permits: number;
  /** How many permits the next lease takes. */
  lease: number;
  /** Requests of the account that all environments have leased, when this one last asked. */
  used: number;
  /** Without a permit, what is decided without the table, until a time in milliseconds since the epoch. */
  decision: { readonly granted: boolean; readonly until: number };
}

/** How many accounts an environment remembers. One that it forgets costs another lease. */
const maxAccounts = 10_000;

/** What an environment remembers of the accounts that it has served in the current window. */
export class RateWindows {
  /** When the window starts, in seconds since the epoch. */
  start = 0;
  readonly #seconds: number;
  #accounts = new Map<string, AccountWindow>();

  /** @param seconds the length of a window */
  constructor(seconds: number) {
    this.#seconds = seconds;
  }

  /** The state of an account. @param now in milliseconds since the epoch */
  of(account: string, now: number): AccountWindow {
    const start = Math.floor(now / 1000 / this.#seconds) * this.#seconds;
    if (start !== this.start) this.#begin(start, now);
    const known = this.#accounts.get(account) ?? unused();
    this.#accounts.set(account, known);
    const [oldest] = this.#accounts.keys();
    if (this.#accounts.size > maxAccounts && oldest !== undefined) this.#accounts.delete(oldest);
    return known;
  }

  /** When the window ends, in seconds since the epoch. */
  get end(): number {
    return this.start + this.#seconds;
  }

  /** Forgets the window before, but for decisions that last. */
  #begin(start: number, now: number): void {
    this.start = start;
    const decided = [...this.#accounts].filter(([, { decision }]) => decision.until > now);
    this.#accounts = new Map(decided.map(([account, { decision }]) => [account, unused(decision)]));
  }
}

const unused = (decision = { granted: false, until: 0 }): AccountWindow => ({
  ...{ permits: 0, lease: 1, used: 0, decision },
});
