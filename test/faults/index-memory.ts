import type { Answer } from "./exchange.ts";

/** How old an index may be, in milliseconds. */
export const staleness = 3000;

/** An answer that is not as old as this is no stale one. */
const youngest = 100;

interface Kept {
  /** When it was asked for, in milliseconds since the epoch. */
  readonly at: number;
  readonly response: Answer;
}

/**
 * What the indexes answered of late. The same query's answer of then is what an index answers that is behind its
 * table, which the embedded engine's never is.
 */
export class IndexMemory {
  readonly #kept = new Map<string, Kept[]>();

  keep(query: string, kept: Kept): void {
    this.#kept.set(query, [...this.#recent(query), kept]);
  }

  /** The oldest answer to the query that an index may still give. */
  earlier(query: string): Answer | undefined {
    const [oldest] = this.#recent(query);
    return oldest && oldest.at <= Date.now() - youngest ? oldest.response : undefined;
  }

  #recent(query: string): Kept[] {
    const since = Date.now() - staleness;
    return (this.#kept.get(query) ?? []).filter(({ at }) => at >= since);
  }
}
