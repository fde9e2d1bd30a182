/** The rate at which a partition key serves units, and how much unused capacity it keeps. */
export interface Rate {
  readonly perSecond: number;
  /** For how many seconds unused capacity is kept for a burst; the last second's is always kept. */
  readonly burstSeconds: number;
}

/**
 * Capacity units that refill with time.
 *
 * A call is admitted while anything is left, and takes its units when its cost is known: DynamoDB knows the cost of a
 * query only when it has read the items. So the content can fall below zero, and calls wait until that is refilled.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/burst-adaptive-capacity.html
 */
export class UnitBucket {
  readonly #rate: Rate;
  readonly #capacity: number;
  #content: number;
  #refilledAt: number;

  /** @param now in milliseconds, of any clock */
  constructor(rate: Rate, now: number) {
    this.#rate = rate;
    this.#capacity = rate.perSecond * Math.max(1, rate.burstSeconds);
    this.#content = this.#capacity;
    this.#refilledAt = now;
  }

  hasAny(now: number): boolean {
    this.#refill(now);
    return this.#content > 0;
  }

  take(units: number, now: number): void {
    this.#refill(now);
    this.#content -= units;
  }

  #refill(now: number): void {
    const earned = ((now - this.#refilledAt) / 1000) * this.#rate.perSecond;
    this.#content = Math.min(this.#capacity, this.#content + earned);
    this.#refilledAt = now;
  }
}
