import { createHistogram, type RecordableHistogram } from "node:perf_hooks";

/** The outcomes of requests. */
export class Tally {
  readonly #times = new Map<string, RecordableHistogram>();
  readonly #errors = new Map<string, number>();
  #rateLimited = 0;

  /** Counts a correct response to a request of a kind, with its time in milliseconds. */
  succeeded(kind: string, milliseconds: number): void {
    const times = this.#times.get(kind) ?? createHistogram();
    this.#times.set(kind, times);
    // A histogram holds whole numbers, so times are in microseconds.
    times.record(Math.max(1, Math.round(milliseconds * 1000)));
  }

  /** Counts a 429. */
  limited(): void {
    this.#rateLimited += 1;
  }

  /** Counts any other outcome. */
  failed(reason: string): void {
    this.#errors.set(reason, (this.#errors.get(reason) ?? 0) + 1);
  }

  /** The response times of each kind of request. */
  byKind(): Latencies[] {
    const kinds = [...this.#times].toSorted(([a], [b]) => (a < b ? -1 : 1));
    return kinds.map(([kind, times]) => summary(kind, times));
  }

  /** The response times of all requests. */
  all(): Latencies {
    const all = createHistogram();
    for (const times of this.#times.values()) all.add(times);
    return summary("all", all);
  }

  /** How many requests ended with each error. */
  get errors(): ReadonlyMap<string, number> {
    return this.#errors;
  }

  get rateLimited(): number {
    return this.#rateLimited;
  }
}

/** Response times of a kind of request, in milliseconds. */
export type Latencies = ReturnType<typeof summary>;

const summary = (kind: string, times: RecordableHistogram) => ({
  kind,
  count: times.count,
  p50: times.percentile(50) / 1000,
  p99: times.percentile(99) / 1000,
  worst: times.max / 1000,
});
