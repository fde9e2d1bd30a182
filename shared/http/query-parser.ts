import type { MiddlewareObj } from "@middy/core";
import { lastPage, pageRequest } from "../pages/page.ts";
import type { Route } from "../routes.ts";
import type { ConversationsQuery } from "../schemas/conversation-schemas.ts";
import type { LeadsQuery } from "../schemas/lead-schemas.ts";
import { maxLimit, maxPage } from "../schemas/page-schemas.ts";
import { parseTimestamp } from "../timestamps.ts";
import { addFaults, type RouteEvent } from "./route-event.ts";

/**
 * Parses `rawQueryString` into `event.query`. The response lists the faults of times and of the page with all others.
 *
 * API Gateway joins a repeated parameter with a comma, so `queryStringParameters` is the same for `a=1,2` and
 * `a=1&a=2`. Here a repeated parameter becomes an empty array, and one that is not percent-encoded UTF-8 becomes null:
 * neither is a string, so the route's schema rejects it.
 *
 * A parameter that is an array in the schema is split at commas. It may be repeated, because many clients write arrays in
 * this way. Blanks around an id are removed; a blank before an external id may be the + of a telephone number.
 */
export function queryParser(schema: Route["query"]): MiddlewareObj<RouteEvent> {
  const { properties } = schema as { properties: Record<string, { type: string; enum?: string[] }> };
  const isArray = (name: string) => Object.hasOwn(properties, name) && properties[name]?.type === "array";
  return {
    before: ({ event }) => {
      event.query = parseQuery(event.rawQueryString, isArray);
      for (const window of windows) if (Object.hasOwn(properties, window[0])) checkTimes(event, window);
      const { sort } = event.query as LeadsQuery;
      if (sort !== undefined && properties.sort?.enum?.includes(sort)) checkPage(event, sort);
    },
  };
}

type QueryValue = string | null | readonly string[];

function parseQuery(raw: string, isArray: (name: string) => boolean): Record<string, QueryValue> {
  const query: Record<string, QueryValue> = Object.create(null);
  for (const pair of raw.split("&").filter(Boolean)) {
    const [, rawName = "", rawValue = ""] = /^([^=]*)=?(.*)$/s.exec(pair) ?? [];
    const name = decode(rawName) ?? rawName;
    const value = decode(rawValue);
    const before = query[name];
    if (!isArray(name)) query[name] = before === undefined ? value : [];
    else if (value === null || before === null) query[name] = null;
    else {
      const values = value.split(",").map((part) => (name === "id" ? part.trim() : part));
      query[name] = [...(before ?? []), ...values];
    }
  }
  return query;
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return null;
  }
}

const windows = [
  ["createdAfter", "createdBefore"],
  ["updatedAfter", "updatedBefore"],
  ["lastMessageAfter", "lastMessageBefore"],
  ["awaitingReplyAfter", "awaitingReplyBefore"],
] as const;

/** Checks the times of a list's query, because no schema can detect a date that does not exist. */
function checkTimes(event: RouteEvent, [start, field]: (typeof windows)[number]): void {
  const [after, before] = [start, field].map((name) => readTime(event, name));
  const message = `must not be earlier than ${start}`;
  if (after !== undefined && before !== undefined && before < after)
    addFaults(event, { in: "query", field, code: "out_of_range", message });
}

function readTime(event: RouteEvent, field: string): number | undefined {
  const value: unknown = Reflect.get(event.query, field);
  // The schema rejects a value that is not one string.
  if (typeof value !== "string") return undefined;
  const time = parseTimestamp(value);
  const message = "must be an RFC 3339 timestamp, such as 2026-01-31T09:30:00Z; send + as %2B";
  if (time === undefined) addFaults(event, { in: "query", field, code: "invalid_format", message });
  return time;
}

/** Rejects a page past the end of a list by a change. Such a list ends early, and a new list continues it. */
function checkPage(event: RouteEvent, sort: string): void {
  const { page, limit } = pageRequest(event.query as LeadsQuery);
  const last = lastPage({ sort }, limit);
  const areValid = [page, limit].every((number) => Number.isInteger(number) && number > 0);
  if (!areValid || limit > maxLimit || page > maxPage || page <= last) return;
  const next = sort.replace(/^-(.*)At$/, "$1Before").replace(/At$/, "After");
  const message = `must be at most ${last} with this sort and limit: go on with ${next}`;
  addFaults(event, { in: "query", field: "page", code: "out_of_range", message });
}

/** The message for parameters that contradict the order of `awaitingReply`, which has the longest waiting first. */
const waitingOrder = "cannot be combined with awaitingReply, which sorts by awaitingReplySince";

/** Finds the faults of parameters that are valid by themselves but cannot be combined. */
export function conversationsQueryRules(): MiddlewareObj<RouteEvent> {
  return {
    before: ({ event }) => {
      // The query is not validated yet: a parameter that is not one valid string has another type.
      const query = event.query as ConversationsQuery;
      const { id: ids, include, awaitingReply } = query;
      const refuse = (message: string, ...names: readonly (keyof ConversationsQuery)[]) => {
        for (const field of names.filter((name) => query[name] !== undefined))
          addFaults(event, { in: "query", field, code: "not_allowed", message });
      };
      if (include === "messages" && ids?.length !== 1)
        refuse("needs exactly one id of a conversation", "include");
      if (include === undefined) refuse("needs include=messages", "messageLimit", "messagesBefore");
      if (awaitingReply === undefined)
        refuse("needs awaitingReply=true", "awaitingReplyAfter", "awaitingReplyBefore");
      else refuse(waitingOrder, "sort", "lastMessageAfter", "lastMessageBefore");
    },
  };
}
