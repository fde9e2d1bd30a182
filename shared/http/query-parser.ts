import type { MiddlewareObj } from "@middy/core";
import type { RouteEvent } from "./route-event.ts";

/**
 * Puts the query, parsed from `rawQueryString`, on `event.query`.
 *
 * API Gateway joins a repeated parameter with a comma, so `queryStringParameters` is the same for `a=1,2` and
 * `a=1&a=2`. Here a repeated parameter becomes an empty array, and one that is not percent-encoded UTF-8 becomes null:
 * neither is a string, so the route's schema rejects it.
 */
export function queryParser(): MiddlewareObj<RouteEvent> {
  return {
    before: ({ event }) => {
      event.query = parseQuery(event.rawQueryString);
    },
  };
}

type QueryValue = string | null | typeof repeated;

/**
 * How many parameters are parsed. Among more, some are unknown or repeated on every route, so the request is invalid
 * whatever the others are.
 */
const maxParameters = 200;

/** The value of a parameter that occurs more than once. */
const repeated: readonly [] = [];

function parseQuery(raw: string): Record<string, QueryValue> {
  const query: Record<string, QueryValue> = Object.create(null);
  for (const pair of raw.split("&").filter(Boolean).slice(0, maxParameters)) {
    const [, rawName = "", rawValue = ""] = /^([^=]*)=?(.*)$/s.exec(pair) ?? [];
    const name = decode(rawName) ?? rawName;
    const value = decode(rawValue);
    query[name] = Object.hasOwn(query, name) ? repeated : value;
  }
  return query;
}

function decode(text: string): string | null {
  try {
    const decoded = decodeURIComponent(text.replaceAll("+", " "));
    // An unpaired surrogate passes the decoder, but no key can hold one.
    return decoded.isWellFormed() ? decoded : null;
  } catch {
    return null;
  }
}
