/** What is compared, and which page relies on it. */
interface Comparison {
  /** The subject of the check, such as `a revoked key`. */
  readonly check: string;
  /** The section of docs/assumptions.md that the check proves or refutes, or the page with the promise that it checks. */
  readonly page: string;
  readonly expected: string;
}

/** What a check found. */
export interface Finding extends Comparison {
  readonly seen: string;
  readonly verdict: "as assumed" | "differs" | "not seen";
}

/** A comparison with an assumption, by the name of its section. */
export const assumption = (name: string, check: string, expected: string): Comparison => ({
  check,
  page: `docs/assumptions.md#${name}`,
  expected,
});

/** A finding of a check that was made. */
export const compared = (
  comparison: Comparison,
  seen: string,
  holds = seen === comparison.expected,
): Finding => ({ ...comparison, seen, verdict: holds ? "as assumed" : "differs" });

/** A finding of a check that could not be made. @param why as part of a sentence */
export const notSeen = (comparison: Comparison, why: string): Finding => ({
  ...comparison,
  seen: why,
  verdict: "not seen",
});
