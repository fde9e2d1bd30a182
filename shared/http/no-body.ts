import type { MiddlewareObj } from "@middy/core";
import { addFaults } from "./faults.ts";
import type { RouteEvent } from "./route-event.ts";

/** On a route that takes no body, any body is a fault; the response lists it with the others. */
export function noBody(): MiddlewareObj<RouteEvent> {
  return {
    before: ({ event }) => {
      if (event.body) addFaults(event, unexpected);
      event.body = undefined;
    },
  };
}

const unexpected = {
  in: "body",
  field: "",
  code: "unexpected",
  message: "must be absent: this route takes none",
} as const;
