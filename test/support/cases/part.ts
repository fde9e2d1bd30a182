import { seeded, shuffled } from "./random.ts";

/**
 * One in `parts` of many similar cases, at least one. `TEST_SEED`, which vitest.config.ts prints, selects the cases: each
 * commit runs other cases, and `whole` selects all.
 *
 * @param name distinguishes tests with equal numbers of cases, so that they run different cases
 */
export function part<T>(cases: readonly T[], parts: number, name = ""): readonly T[] {
  const seed = process.env.TEST_SEED ?? "";
  if (seed === "whole") return cases;
  if (!/^\d+$/.test(seed)) throw new Error(`TEST_SEED is ${seed}, not a number or "whole".`);
  const own = [...name].reduce(
    (sum, character) => Math.imul(31, sum) + character.charCodeAt(0),
    Number(seed),
  );
  const chosen = shuffled(seeded(own), [...cases.keys()]).slice(0, Math.ceil(cases.length / parts));
  return cases.filter((_, index) => chosen.includes(index));
}

/** How often a test of random cases runs: `count` times at night, otherwise one in `parts` of that. */
export const runs = (count: number, parts: number) => part([...Array(count).keys()], parts).length;
