import { isRecord } from "../../is-record.ts";
import { UserError } from "../../user-error.ts";

/** Whether an event passes the filter. */
export type Filter = (event: unknown) => boolean;

/**
 * Reads the filter patterns of an event source: an event passes when one of them matches, or when there are none.
 *
 * @throws UserError for patterns other than exact texts and prefixes, so that they never count as a match
 * @see https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-event-patterns.html
 */
export function readFilters(patterns: readonly string[]): Filter {
  if (patterns.length === 0) return () => true;
  const filters = patterns.map((pattern) => readPattern(JSON.parse(pattern) as unknown, "pattern"));
  return (event) => filters.some((matches) => matches(event));
}

/** @param path the position in the pattern, for error messages */
function readPattern(pattern: unknown, path: string): Filter {
  if (Array.isArray(pattern)) {
    const values = pattern.map((value) => readValue(value, path));
    return (event) => values.some((matches) => matches(event));
  }
  if (!isRecord(pattern)) throw unsupportedPattern(pattern, path);
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
  throw unsupportedPattern(value, path);
}

const unsupportedPattern = (value: unknown, path: string) =>
  new UserError(
    `The local run cannot evaluate ${JSON.stringify(value)} at ${path} of an event source's filter: add it to lib/local/template/event-filter.ts.`,
  );
