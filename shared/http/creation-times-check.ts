import type { MiddlewareObj } from "@middy/core";
import type { Fault } from "../errors.ts";
import { parseTimestamp } from "../timestamps.ts";
import { addFaults } from "./faults.ts";
import type { RouteEvent } from "./route-event.ts";

/** Checks `createdAfter` and `createdBefore` of a list's query: no schema can tell a date that does not exist. */
export function creationTimesCheck(): MiddlewareObj<RouteEvent> {
  return {
    before: ({ event }) => {
      const [after, before] = ["createdAfter", "createdBefore"].map((name) => readTime(event, name));
      if (after !== undefined && before !== undefined && before < after) addFaults(event, wrongOrder);
    },
  };
}

function readTime(event: RouteEvent, field: string): number | undefined {
  const value: unknown = Reflect.get(event.query, field);
  // The schema rejects what is not one string.
  if (typeof value !== "string") return undefined;
  const time = parseTimestamp(value);
  if (time === undefined) addFaults(event, { in: "query", field, ...noTimestamp });
  return time;
}

const noTimestamp: Pick<Fault, "code" | "message"> = {
  code: "invalid_format",
  message: "must be an RFC 3339 timestamp, such as 2026-01-31T09:30:00Z; send + as %2B",
};

const wrongOrder: Fault = {
  in: "query",
  field: "createdBefore",
  code: "out_of_range",
  message: "must not be earlier than createdAfter",
};
