import type { MiddlewareObj } from "@middy/core";
import type { Route } from "../routes.ts";
import type { RouteEvent } from "./route-event.ts";

/**
 * Puts the query, parsed from `rawQueryString`, on `event.query`.
 *
 * API Gateway joins a repeated parameter with a comma, so `queryStringParameters` is the same for `a=1,2` and
 * `a=1&a=2`. Here a repeated parameter becomes an empty array, and one that is not percent-encoded UTF-8 becomes null:
 * neither is a string, so the route's schema rejects it.
 *
 * A parameter that is an array in the schema has the values between its commas. It may be repeated, as many clients
 * write arrays.
 */
export function queryParser(schema: Route["query"]): MiddlewareObj<RouteEvent> {
  const { properties } = schema as { readonly properties: Readonly<Record<string, { type: string }>> };
  const isArray = (name: string) => Object.hasOwn(properties, name) && properties[name]?.type === "array";
  return {
    before: ({ event }) => {
      event.query = parseQuery(event.rawQueryString, isArray);
    },
  };
}

type QueryValue = string | null | readonly string[];

/**
 * How many parameters are parsed. Among more, some are unknown or repeated on every route, so the request is invalid
 * whatever the others are.
 */
const maxParameters = 200;

/** The value of a parameter that occurs more than once. */
const repeated: QueryValue = [];

function parseQuery(raw: string, isArray: (name: string) => boolean): Record<string, QueryValue> {
  const query: Record<string, QueryValue> = Object.create(null);
  for (const pair of raw.split("&").filter(Boolean).slice(0, maxParameters)) {
    const [, rawName = "", rawValue = ""] = /^([^=]*)=?(.*)$/s.exec(pair) ?? [];
    const name = decode(rawName) ?? rawName;
    const value = decode(rawValue);
    const before = query[name];
    if (isArray(name))
      query[name] = value === null || before === null ? null : [...(before ?? []), ...value.split(",")];
    else query[name] = before === undefined ? value : repeated;
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
