/** A log may contain shorter texts by chance. */
const minLength = 8;

/** Only the beginning of a longer text is searched. */
const maxLength = 256;

/** A value of `update` that is also part of codes that may be logged. */
const known = "conversation";

/** Every text that this test file has sent to the API. */
export const sent = new Set<string>();

/** Records the texts in the values, at any depth: field names and field values. */
export function noteSent(...values: readonly unknown[]): void {
  for (const value of values) {
    if (typeof value === "string" && value.length >= minLength && value !== known)
      sent.add(value.slice(0, maxLength));
    else if (typeof value === "object" && value !== null)
      noteSent(...Object.keys(value), ...Object.values(value));
  }
}
