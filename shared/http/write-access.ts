import type { MiddlewareObj } from "@middy/core";
import { ApiError } from "../errors.ts";
import type { RouteEvent } from "./route-event.ts";

/**
 * Refuses a request whose API key may only read, before anything of the request is parsed. The authorizer cannot refuse
 * it, because API Gateway caches its result for all routes.
 *
 * A result without an access is from the cache of before a deployment: keys had full access then.
 */
export function writeAccess(): MiddlewareObj<RouteEvent> {
  return {
    before: ({ event }) => {
      const { access = "full" } = event.requestContext.authorizer?.lambda ?? {};
      if (access !== "full") throw new ApiError("insufficient_access", "This API key may only read.");
    },
  };
}
