/** Shorter texts are words that a log may have of its own. */
const shortest = 8;

/** The beginning of a longer one tells it. */
const longest = 256;

/** Every text that this test file has sent to the API, in whatever place. */
export const sent = new Set<string>();

/** Keeps the texts in the values, at any depth: names of fields and what they hold. */
export function noteSent(...values: readonly unknown[]): void {
  for (const value of values) {
    if (typeof value === "string" && value.length >= shortest) sent.add(value.slice(0, longest));
    else if (typeof value === "object" && value !== null)
      noteSent(...Object.keys(value), ...Object.values(value));
  }
}
