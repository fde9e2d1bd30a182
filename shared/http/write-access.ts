import type { MiddlewareObj } from "@middy/core";
import { ApiError } from "../errors.ts";
import { authorizedCaller, type RouteEvent } from "./route-event.ts";

/**
 * Refuses a request whose API key may only read, before anything of the request is parsed. The authorizer cannot refuse
 * it, because API Gateway caches its result for all routes.
 */
export function writeAccess(): MiddlewareObj<RouteEvent> {
  return {
    before: ({ event }) => {
      const { access } = authorizedCaller(event);
      if (access !== "full") throw new ApiError("insufficient_access", "This API key may only read.");
    },
  };
}
