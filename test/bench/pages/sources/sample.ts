import type { Population } from "../population.ts";

/** A source of an account: its place among the sources by falling number of leads, from 1. */
export interface RankedSource {
  readonly source: string;
  readonly rank: number;
  readonly count: number;
}

/** How many sources are read at least. */
const fewest = 8;

/** A list that just needs a tree of its own has about this many rows; a shorter one is read completely. */
const justCounted = 240;
const mostUncounted = 192;

/** The sources of an account, the most frequent first. */
export function rankSources(population: Population): RankedSource[] {
  const counts = new Map<string, number>();
  for (const { source } of population.matching({})) counts.set(source, (counts.get(source) ?? 0) + 1);
  return [...counts]
    .sort(([a, countA], [b, countB]) => countB - countA || (a < b ? -1 : 1))
    .map(([source, count], index) => ({ source, rank: index + 1, count }));
}

/** A sample of ranked sources: frequent, the 17th, middling and rare ones, and those at the limit for a tree. */
export function sampleSources(ranked: readonly RankedSource[]): RankedSource[] {
  const { length } = ranked;
  const places = [1, 2, 8, 16, 17, Math.ceil(length / 2), Math.ceil(length * 0.9), length];
  const ranks = new Set(places.filter((rank) => rank <= length));
  const counted = closest(ranked, justCounted);
  if (counted && counted.count > mostUncounted && counted.count <= 300) ranks.add(counted.rank);
  const uncounted = ranked.find(({ count }) => count <= mostUncounted);
  if (uncounted) ranks.add(uncounted.rank);
  for (let rank = 1; rank <= length && ranks.size < fewest; rank++) ranks.add(rank);
  return ranked.filter(({ rank }) => ranks.has(rank));
}

const closest = (ranked: readonly RankedSource[], count: number) =>
  ranked.toSorted((a, b) => Math.abs(a.count - count) - Math.abs(b.count - count))[0];
