import { memberName } from "./faults.ts";

/** A string, with the colon that makes it a key, or a token that opens, separates or closes objects and arrays. */
const token = /("(?:[^"\\]|\\.)*")[\t\n\r ]*(:?)|[[\]{},]/g;

/** An open object or array of the scan. */
interface Container {
  /** Undefined for the outermost. */
  readonly name: string | undefined;
  /** How often each key has occurred; empty for an array. */
  readonly keys: Map<string, number>;
  /** The current key, or the current index in an array. */
  member: string | number;
}

/**
 * The names of the keys that occur more than once in an object of a JSON text, each listed once. `JSON.parse` keeps the
 * last value of such a key and silently drops the others.
 *
 * It takes time linear in the length of the text, however deeply it is nested.
 *
 * @param json text that `JSON.parse` has accepted
 */
export function duplicateKeys(json: string): string[] {
  const found: string[] = [];
  const open: Container[] = [];
  for (const [mark, text, colon] of json.matchAll(token)) {
    const inside = open.at(-1);
    if (mark === "{" || mark === "[") {
      const name = inside && memberName(inside.name, inside.member);
      open.push({ name, keys: new Map(), member: mark === "[" ? 0 : "" });
    } else if (mark === "}" || mark === "]") open.pop();
    else if (inside && text && colon) {
      inside.member = JSON.parse(text) as string;
      const times = inside.keys.get(inside.member) ?? 0;
      if (times === 1) found.push(memberName(inside.name, inside.member));
      inside.keys.set(inside.member, times + 1);
    } else if (mark === "," && typeof inside?.member === "number") inside.member += 1;
  }
  return found;
}
