import type { TableResponse } from "./exchange.ts";

/** How far an index may lag, in milliseconds. */
export const staleness = 3000;

/** A younger response is not stale, in milliseconds. */
const minAge = 100;

interface Entry {
  /** When it was requested, in milliseconds since the epoch. */
  readonly at: number;
  readonly response: TableResponse;
}

/**
 * Recent responses of the indexes. The embedded engine's indexes never lag, so an earlier response to the same query
 * stands for that of an index that lags.
 */
export class IndexMemory {
  readonly #entries = new Map<string, Entry[]>();

  keep(query: string, entry: Entry): void {
    this.#entries.set(query, [...this.#recent(query), entry]);
  }

  /** The oldest response to the query that a lagging index may return. */
  earlier(query: string): TableResponse | undefined {
    const [oldest] = this.#recent(query);
    return oldest && oldest.at <= Date.now() - minAge ? oldest.response : undefined;
  }

  #recent(query: string): Entry[] {
    const since = Date.now() - staleness;
    return (this.#entries.get(query) ?? []).filter(({ at }) => at >= since);
  }
}
