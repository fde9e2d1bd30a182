import { UnitBucket } from "./unit-bucket.ts";

/** A partition key of the table, or of one of its indexes, that a call reads or writes. */
export interface Use {
  readonly kind: "read" | "write";
  /** The name of the index; absent for the table. */
  readonly index?: string | undefined;
  readonly partition: string;
}

/** The limits of each partition key, in units a second. */
export interface PartitionRates {
  readonly read: number;
  readonly write: number;
  /** For how many seconds unused capacity is kept: AWS keeps up to 300 s, but promises none. */
  readonly burstSeconds: number;
}

/**
 * What one partition key serves on AWS.
 *
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html
 */
export const awsRates: PartitionRates = { read: 3000, write: 1000, burstSeconds: 0 };

/** Admits and charges calls by the limits of every partition key, of the table and of each index by itself. */
export class PartitionLimits {
  readonly #rates: PartitionRates;
  readonly #now: () => number;
  readonly #buckets = new Map<string, UnitBucket>();

  /** @param now in milliseconds, of the real or of a virtual clock */
  constructor(rates: PartitionRates, now: () => number = Date.now) {
    this.#rates = rates;
    this.#now = now;
  }

  /**
   * Finds what throttles a call. A write that an index cannot take is throttled like one that the table cannot take.
   *
   * @returns undefined if the call is admitted
   * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/gsi-throttling.html
   */
  throttle<U extends Use>(uses: readonly U[]): U | undefined {
    const now = this.#now();
    return uses.find((use) => !this.#bucket(use, now).hasAny(now));
  }

  /**
   * Finds which uses of a batch are throttled: DynamoDB admits each by itself.
   *
   * @param least the units that each admitted use leaves fewer for those after it
   */
  throttleEach<U extends Use>(uses: readonly U[], least: number): readonly U[] {
    const admitted: U[] = [];
    const throttled: U[] = [];
    for (const use of uses) {
      const isOver = this.throttle([use]) !== undefined;
      (isOver ? throttled : admitted).push(use);
      if (!isOver) this.charge(use, least);
    }
    for (const use of admitted) this.charge(use, -least);
    return throttled;
  }

  /** Takes what a call has consumed. */
  charge(use: Use, units: number): void {
    const now = this.#now();
    this.#bucket(use, now).take(units, now);
  }

  #bucket({ kind, index = "", partition }: Use, now: number): UnitBucket {
    const key = `${kind} ${index} ${partition}`;
    const known = this.#buckets.get(key);
    if (known) return known;
    const { burstSeconds } = this.#rates;
    const bucket = new UnitBucket({ perSecond: this.#rates[kind], burstSeconds }, now);
    this.#buckets.set(key, bucket);
    return bucket;
  }
}
