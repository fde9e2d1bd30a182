import { bodyFault, memberName } from "../errors.ts";

/**
 * The longest body that is parsed, in bytes. The longest valid body has 79,345 bytes without white space: a lead, with
 * each of its characters escaped as two surrogates.
 */
export const maxBodyBytes = 80 * 1024;

/** The most levels of objects and arrays; valid bodies have three. */
export const maxDepth = 100;

/** The most values, including objects and arrays; valid bodies have 85 at most. */
export const maxBodyValues = 1000;

const tooDeep = bodyFault("", "too_deep", `must have at most ${maxDepth} levels of objects and arrays`);
const tooMany = bodyFault("", "too_many", `must have at most ${maxBodyValues} values`);

/** A string, with the colon that makes it a key, or a token that opens, separates or closes objects and arrays. */
const token = /("(?:[^"\\]|\\.)*")[\t\n\r ]*(:?)|[[\]{},]/g;

interface Container {
  /** Undefined for the outermost container. */
  readonly name: string | undefined;
  /** How often each key has occurred; empty for an array. */
  readonly keys: Map<string, number>;
  /** The current key, or the current index in an array. */
  member: string | number;
}

/**
 * Scans a JSON text in linear time for repeated keys and for too many levels or values, which `JSON.parse` accepts. The
 * scan ends at a limit, which bounds the cost of later work, such as a list of faults.
 *
 * @param json text that `JSON.parse` has accepted: in any other text, an unclosed string would be searched repeatedly
 * @returns the fault of a text that exceeds a limit, and the names of the keys that occur more than once in an object, each once:
 *   `JSON.parse` keeps only the last value
 */
export function scanJson(json: string) {
  const duplicates: string[] = [];
  const open: Container[] = [];
  let values = 1;
  for (const [mark, text, colon] of json.matchAll(token)) {
    const inside = open.at(-1);
    if (mark === "{" || mark === "[") {
      const name = inside && memberName(inside.name, inside.member);
      open.push({ name, keys: new Map(), member: mark === "[" ? 0 : "" });
      values++;
    } else if (mark === "}" || mark === "]") open.pop();
    else if (mark === ",") {
      values++;
      if (typeof inside?.member === "number") inside.member += 1;
    } else if (inside && text && colon) {
      inside.member = JSON.parse(text) as string;
      const times = inside.keys.get(inside.member) ?? 0;
      if (times === 1) duplicates.push(memberName(inside.name, inside.member));
      inside.keys.set(inside.member, times + 1);
    }
    if (open.length > maxDepth) return { exceeded: tooDeep, duplicates };
    if (values > maxBodyValues) return { exceeded: tooMany, duplicates };
  }
  return { duplicates };
}
