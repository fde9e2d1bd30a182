import { memberName } from "./field-name.ts";

/** A string with the colon that makes it a key, or what opens, parts and closes objects and arrays. */
const token = /("(?:[^"\\]|\\.)*")[\t\n\r ]*(:?)|[[\]{},]/g;

/** An object or array that the scan is inside of. */
interface Container {
  /** Undefined for the whole text. */
  readonly name: string | undefined;
  /** How often each key has been met; an array has none. */
  readonly keys: Map<string, number>;
  /** Where the scan is: the key, or the index in an array. */
  member: string | number;
}

/**
 * The names of the keys that an object of a JSON text has more than once, each named once. `JSON.parse` keeps the
 * last value of such a key and drops the others without a word.
 *
 * It takes time in proportion to the text, however deep that is nested.
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
