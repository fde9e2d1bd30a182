import { isRecord } from "../../is-record.ts";
import { UserError } from "../../user-error.ts";

/** Whether an event passes the filter. */
export type Filter = (event: unknown) => boolean;

/**
 * Reads the filter pattern of a reader of the stream.
 *
 * @throws UserError for patterns other than exact texts and prefixes, so that they never count as a match
 * @see https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-event-patterns.html
 */
export function readFilter(text: string): Filter {
  const pattern: unknown = JSON.parse(text, (_, value) =>
    Array.isArray(value) ? value.map(readValue) : value,
  );
  return (event) => matches(pattern, event);
}

/** @param pattern an object of patterns, or the functions that read a list of values */
function matches(pattern: unknown, event: unknown): boolean {
  if (Array.isArray(pattern)) return pattern.some((matchesValue: Filter) => matchesValue(event));
  const fields = Object.entries(pattern as object);
  return isRecord(event) && fields.every(([name, inner]) => matches(inner, event[name]));
}

function readValue(value: unknown): Filter {
  if (typeof value === "string") return (event) => event === value;
  const { prefix, ...others } = Object(value) as { readonly prefix?: unknown };
  if (typeof prefix !== "string" || Object.keys(others).length > 0)
    throw new UserError(
      `The local run cannot evaluate ${JSON.stringify(value)} of an event source's filter: add it to lib/local/template/event-filter.ts.`,
    );
  return (event) => typeof event === "string" && event.startsWith(prefix);
}
