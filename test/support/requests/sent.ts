/** Shorter texts are words that a log may hold by chance. */
const minLength = 8;

/** A longer text is found by its beginning. */
const maxLength = 256;

/** A value of `update`, which is also a part of codes that the log has. */
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
