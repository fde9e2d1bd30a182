import fc from "fast-check";

/** The expectation for a part of a request: success if all are valid, an error if any is invalid. */
export type Verdict = "valid" | "invalid" | "any";

/** A generated part of a request. */
export interface Part<T> {
  readonly value: T;
  readonly verdict: Verdict;
}

const withVerdict =
  (verdict: Verdict) =>
  <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<Part<T>> =>
    arbitrary.map((value) => ({ value, verdict }));

export const valid = withVerdict("valid");
export const invalid = withVerdict("invalid");
export const any = withVerdict("any");

/** Three in four are valid, so that many requests of a few parts are valid. */
export const mostly = <T>(good: fc.Arbitrary<Part<T>>, ...others: fc.Arbitrary<Part<T>>[]) =>
  fc.oneof({ weight: 3 * others.length, arbitrary: good }, ...others);

/** The expectation for a request of these parts. */
export function combineVerdicts(parts: readonly Part<unknown>[]): Verdict {
  const verdicts = parts.map(({ verdict }) => verdict);
  if (verdicts.includes("invalid")) return "invalid";
  return verdicts.includes("any") ? "any" : "valid";
}
