/**
 * The longest body that is parsed, in bytes. The longest valid one has 50,827 without white space: a message, with each
 * of its characters escaped as two surrogates.
 */
export const maxBodyBytes = 64 * 1024;

/** The most levels of objects and arrays; valid bodies have two. */
export const maxDepth = 100;

/** The most values, of objects and arrays too; valid bodies have 54 at most. */
export const maxValues = 1000;

/** A string, or a token that opens, separates or closes objects and arrays. */
const token = /"(?:[^"\\]|\\.)*"|[[\]{},]/g;

/**
 * Which limit of its structure a JSON text exceeds. The work after it, such as a list of faults, can then cost only so
 * much, however short the values are.
 *
 * @param json text that `JSON.parse` has accepted: in any other, an open string would be searched again and again
 */
export function exceededLimit(json: string): "too_deep" | "too_many" | undefined {
  let depth = 0;
  let values = 1;
  for (const [text] of json.matchAll(token)) {
    if (text === "[" || text === "{") {
      depth++;
      values++;
    } else if (text === "]" || text === "}") depth--;
    else if (text === ",") values++;
    if (depth > maxDepth) return "too_deep";
    if (values > maxValues) return "too_many";
  }
  return undefined;
}

export const limitMessages = {
  too_deep: `must have at most ${maxDepth} levels of objects and arrays`,
  too_many: `must have at most ${maxValues} values`,
};
