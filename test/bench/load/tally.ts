import { createHistogram, type RecordableHistogram } from "node:perf_hooks";

/** What became of requests. */
export class Tally {
  readonly #times = new Map<string, RecordableHistogram>();
  readonly #errors = new Map<string, number>();
  #refused = 0;

  /** A right answer to a request of a kind, and how long it took in milliseconds. */
  answered(kind: string, milliseconds: number): void {
    const times = this.#times.get(kind) ?? createHistogram();
    this.#times.set(kind, times);
    // A histogram holds whole numbers: microseconds.
    times.record(Math.max(1, Math.round(milliseconds * 1000)));
  }

  /** The account has made too many requests. */
  refuse(): void {
    this.#refused += 1;
  }

  /** Any other end of a request. */
  failed(reason: string): void {
    this.#errors.set(reason, (this.#errors.get(reason) ?? 0) + 1);
  }

  /** How long the answers to each kind of request took. */
  byKind(): Latencies[] {
    const kinds = [...this.#times].toSorted(([a], [b]) => (a < b ? -1 : 1));
    return kinds.map(([kind, times]) => summary(kind, times));
  }

  /** How long all answers took. */
  all(): Latencies {
    const all = createHistogram();
    for (const times of this.#times.values()) all.add(times);
    return summary("all", all);
  }

  /** How many requests each error ended. */
  get errors(): ReadonlyMap<string, number> {
    return this.#errors;
  }

  get refused(): number {
    return this.#refused;
  }
}

/** How long answers of a kind took, in milliseconds. */
export interface Latencies {
  readonly kind: string;
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly worst: number;
}

const summary = (kind: string, times: RecordableHistogram): Latencies => ({
  kind,
  count: times.count,
  p50: times.percentile(50) / 1000,
  p99: times.percentile(99) / 1000,
  worst: times.max / 1000,
});
