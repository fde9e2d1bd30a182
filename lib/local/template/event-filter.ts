import { UserError } from "../../errors.ts";
import { isRecord } from "../../is-record.ts";

/** Tells whether an event passes. */
export type Filter = (event: unknown) => boolean;

/**
 * Reads the patterns of an event source, of which one must match; a source without patterns lets everything pass.
 *
 * @throws UserError on all but exact texts and prefixes: it must never count as a match
 * @see https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-event-patterns.html
 */
export function readFilters(patterns: readonly string[]): Filter {
  if (patterns.length === 0) return () => true;
  const filters = patterns.map((pattern) => readPattern(JSON.parse(pattern), "pattern"));
  return (event) => filters.some((matches) => matches(event));
}

/** @param path where in the pattern, for the developer */
function readPattern(pattern: unknown, path: string): Filter {
  if (Array.isArray(pattern)) {
    const values = pattern.map((value) => readValue(value, path));
    return (event) => values.some((matches) => matches(event));
  }
  if (!isRecord(pattern)) throw unknownPattern(pattern, path);
  const fields = Object.entries(pattern).map(
    ([name, inner]) => [name, readPattern(inner, `${path}.${name}`)] as const,
  );
  return (event) => isRecord(event) && fields.every(([name, matches]) => matches(event[name]));
}

function readValue(value: unknown, path: string): Filter {
  if (typeof value === "string") return (event) => event === value;
  if (isRecord(value) && Object.keys(value).join() === "prefix" && typeof value.prefix === "string") {
    const { prefix } = value;
    return (event) => typeof event === "string" && event.startsWith(prefix);
  }
  throw unknownPattern(value, path);
}

const unknownPattern = (value: unknown, path: string) =>
  new UserError(
    `The local run cannot evaluate ${JSON.stringify(value)} at ${path} of an event source's filter: teach lib/local/template/event-filter.ts.`,
  );
