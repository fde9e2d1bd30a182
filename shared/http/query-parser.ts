import type { MiddlewareObj } from "@middy/core";
import type { RouteEvent } from "./route-handler.ts";

/**
 * Puts the query, parsed from `rawQueryString`, on `event.query`.
 *
 * API Gateway joins a repeated parameter with a comma, so `queryStringParameters` cannot tell `a=1,2` from
 * `a=1&a=2`. Here a repeated parameter is an array and one that is no percent-encoded UTF-8 is null: neither is
 * a string, so the route's schema refuses it.
 */
export function queryParser(): MiddlewareObj<RouteEvent> {
  return {
    before: ({ event }) => {
      event.query = parseQuery(event.rawQueryString);
    },
  };
}

type QueryValue = string | null | QueryValue[];

function parseQuery(raw: string): Record<string, QueryValue> {
  const query: Record<string, QueryValue> = Object.create(null);
  for (const pair of raw.split("&").filter(Boolean)) {
    const [, rawName = "", rawValue = ""] = /^([^=]*)=?(.*)$/s.exec(pair) ?? [];
    const name = decode(rawName) ?? rawName;
    const value = decode(rawValue);
    query[name] = Object.hasOwn(query, name) ? [query[name] ?? null, value].flat() : value;
  }
  return query;
}

function decode(text: string): string | null {
  try {
    const decoded = decodeURIComponent(text.replaceAll("+", " "));
    // Decoding leaves alone what is no escape, an unpaired surrogate too, which no key can hold.
    return decoded.isWellFormed() ? decoded : null;
  } catch {
    return null;
  }
}
