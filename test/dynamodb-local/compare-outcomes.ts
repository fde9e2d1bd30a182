import type { Difference } from "./differences.ts";
import type { Outcome } from "./vitest-run.ts";

/** How the outcomes compare with the known differences. */
export interface Comparison {
  readonly passed: number;
  readonly skipped: number;
  /** The known differences that occurred. */
  readonly known: readonly Difference[];
  /** What failed and is no known difference. */
  readonly unknown: readonly string[];
  /** The known differences whose test passed, or ran under no such name. */
  readonly gone: readonly string[];
}

/** The name of a test among the known differences. */
export const nameOf = ({ file, test = "outside of its tests" }: Outcome) => `${file} > ${test}`;

/** The outcomes of test files that ran again. A test that passed in one of the runs has passed. */
export function mergeRuns(first: readonly Outcome[], again: readonly Outcome[]): readonly Outcome[] {
  const files = new Set(again.map(({ file }) => file));
  const passed = new Set(first.filter(({ state }) => state === "passed").map(nameOf));
  return [
    ...first.filter(({ file }) => !files.has(file)),
    ...again.map((outcome) =>
      passed.has(nameOf(outcome)) ? { ...outcome, state: "passed" as const } : outcome,
    ),
  ];
}

/** Compares the outcomes of tests with the known differences in the files that ran. */
export function compareOutcomes(
  outcomes: readonly Outcome[],
  differences: readonly Difference[],
): Comparison {
  const failed = new Set(outcomes.filter(({ state }) => state === "failed").map(nameOf));
  const files = new Set(outcomes.map(({ file }) => file));
  const names = new Set(differences.map(({ test }) => test));
  const expected = differences.filter(({ test }) => files.has(test.split(" > ", 1)[0] ?? ""));
  return {
    passed: outcomes.filter(({ state }) => state === "passed").length,
    skipped: outcomes.filter(({ state }) => state === "skipped").length,
    known: expected.filter(({ test }) => failed.has(test)),
    unknown: [...failed].filter((name) => !names.has(name)),
    gone: expected.map(({ test }) => test).filter((name) => !failed.has(name)),
  };
}
