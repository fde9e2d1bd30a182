import fc from "fast-check";

/** What a part of a request lets expect: success if all are valid, refusal if any is invalid. */
export type Verdict = "valid" | "invalid" | "any";

/** A part of a request as it was generated. */
export interface Part<T> {
  readonly value: T;
  readonly verdict: Verdict;
}

const judged =
  (verdict: Verdict) =>
  <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<Part<T>> =>
    arbitrary.map((value) => ({ value, verdict }));

export const valid = judged("valid");
export const invalid = judged("invalid");
export const any = judged("any");

const weighed =
  (weight: number) =>
  <T>(good: fc.Arbitrary<Part<T>>, ...bad: fc.Arbitrary<Part<T>>[]) =>
    fc.oneof({ weight: bad.length * weight, arbitrary: good }, ...bad);

/** Three in four are valid, so that a good share of requests of a few such parts is. */
export const mostly = weighed(3);

/** Nine in ten are valid: for requests of many parts. */
export const nearlyAlways = weighed(9);

/** What to expect of a request of these parts. */
export function verdictOf(parts: readonly Part<unknown>[]): Verdict {
  const verdicts = parts.map(({ verdict }) => verdict);
  if (verdicts.includes("invalid")) return "invalid";
  return verdicts.includes("any") ? "any" : "valid";
}
