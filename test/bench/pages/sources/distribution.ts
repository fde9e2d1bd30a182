import { seeded } from "../../../support/random.ts";

/** How the leads of an account are shared among its sources. */
export interface Distribution {
  readonly sources: number;
  /** Whether the nth source has 1/n of the first one's leads (Zipf), or all have as many. */
  readonly skewed: boolean;
}

/** Picks a source for each lead; the same in every run. */
export function sourcePicker({ sources, skewed }: Distribution): () => string {
  const random = seeded(sources + 1);
  let end = 0;
  const ends = Array.from({ length: sources }, (_, n) => {
    end += skewed ? 1 / (n + 1) : 1;
    return end;
  });
  return () => nameSource(firstAfter(ends, random() * end));
}

const nameSource = (n: number) => `campaign-2025-${String(n).padStart(5, "0")}`;

/** The position of the first number that is larger than a value, in sorted numbers. */
function firstAfter(sorted: readonly number[], value: number): number {
  let from = 0;
  let to = sorted.length - 1;
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    if ((sorted[middle] ?? 0) > value) to = middle;
    else from = middle + 1;
  }
  return from;
}
