import { seeded, shuffled } from "./random.ts";

/**
 * One in `parts` of many similar cases, at least one. `TEST_SEED`, which vitest.config.ts prints, selects them: each
 * commit has others, and `whole` selects all.
 */
export function part<T>(cases: readonly T[], parts: number): readonly T[] {
  const seed = process.env.TEST_SEED;
  if (!seed) throw new Error("TEST_SEED is not set.");
  if (seed === "whole") return cases;
  const chosen = shuffled(seeded(Number(seed)), [...cases.keys()]).slice(0, Math.ceil(cases.length / parts));
  return cases.filter((_, index) => chosen.includes(index));
}

/** How often a test of random cases runs: at night as often as it says, otherwise a part of that. */
export const runs = (count: number, parts: number) => part([...Array(count).keys()], parts).length;
