import { setTimeout } from "node:timers/promises";
import { isOfKind, TooExpensiveError } from "./dynamodb-errors.ts";
import { withRetry } from "./retry.ts";

/** Half of the read units that a partition key provides per second: lists are served from the same key. */
export const defaultUnits = 1500;

/** How many read units a write unit is worth: a partition key provides a third as many. */
export const readsPerWrite = 3;

/** How long a call that fails without a throttle is retried, in milliseconds. */
const failingTimeout = 60_000;

/** How many times longer the backoffs of a long command are than those of a route: up to five seconds. */
const backoffFactor = 10;

/** The smallest part of its rate to which throttling slows a command down. */
const slowest = 1 / 32;

/** How much of the time that calls take is credited to the next wait, in milliseconds, so that the rate is reached. */
const credit = 200;

/** Waits shorter than this, in milliseconds, are left for a later call. */
const shortestWait = 50;

/** What calls need of a pace. */
export type AnyPace = Pick<Pace, "wait" | "spend" | "retry">;

/** The pace of a short command: the SDK makes all further attempts. */
export const unpaced: AnyPace = {
  wait: setTimeout,
  spend: async () => {},
  retry: (call) => call(),
};

/** Spreads the read units of a long command or of an audit over time, and slows it down while the table throttles it. */
export class Pace {
  readonly #most: number;
  /** When the work must have ended, in milliseconds since the epoch. */
  readonly deadline: number;
  /** Units per second. */
  #rate: number;
  /** When all units that were used are paid for, in milliseconds since the epoch. */
  #paidAt = 0;
  /** When the rate was last halved. */
  #slowedAt = Number.NEGATIVE_INFINITY;

  /** @param units the most read units to use per second */
  constructor(units = defaultUnits, deadline = Number.POSITIVE_INFINITY) {
    this.#most = units;
    this.#rate = units;
    this.deadline = deadline;
  }

  /** Waits, also for other reasons than the rate, for a time in milliseconds. */
  wait(milliseconds: number): Promise<unknown> {
    return setTimeout(milliseconds);
  }

  /** Waits until the rate allows the next call. @throws TooExpensiveError when the time is up */
  async spend(units: number): Promise<void> {
    const now = Date.now();
    if (now >= this.deadline) throw new TooExpensiveError("too_slow", "The time is up.");
    this.#paidAt = Math.max(this.#paidAt, now - credit) + (1000 * units) / this.#rate;
    // Without throttling, the rate doubles in about 35 seconds.
    this.#rate = Math.min(this.#most, this.#rate + units / 50);
    if (this.#paidAt - now >= shortestWait) await this.wait(this.#paidAt - now);
  }

  /**
   * Repeats a call without end, or until the deadline, while the table throttles it, and for a minute while the table
   * cannot be reached, or other writers come first.
   */
  retry = <T>(call: () => Promise<T>): Promise<T> => {
    let failingSince: number | undefined;
    return withRetry(call, {
      deadline: this.deadline,
      isRetryable: (error) => {
        if (isOfKind(error, "throttled", "key-throttled", "transaction-throttled")) {
          this.#slowDown();
          failingSince = undefined;
          return true;
        }
        failingSince ??= Date.now();
        return isOfKind(error, "conflict", "unreachable") && Date.now() - failingSince < failingTimeout;
      },
      wait: (milliseconds) => this.wait(backoffFactor * milliseconds),
    });
  };

  /** Halves the rate, at most once a second: calls that run at the same time are throttled together. */
  #slowDown(): void {
    const now = Date.now();
    if (now - this.#slowedAt < 1000) return;
    this.#slowedAt = now;
    this.#rate = Math.max(this.#most * slowest, this.#rate / 2);
  }
}
