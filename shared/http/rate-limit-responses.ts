import type { MiddlewareObj } from "@middy/core";
import { ApiError } from "../errors.ts";
import { type Permit, rateLimiter, windowSeconds } from "../rate-limit/rate-limiter.ts";
import { problemResponse } from "./problem-responses.ts";
import { authorizedCaller, type RouteEvent } from "./route-event.ts";

/**
 * Limits the rate of each account's requests, and adds the `RateLimit` headers to every response. It requests the permit
 * while the other middleware works, and replaces their response by a 429 if the permit is refused. A handler that writes
 * awaits `event.permit` first. A request that is known to exceed the limit causes no work at all.
 *
 * Use it before every middleware that can respond, so that it has the last word.
 *
 * @see https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-ratelimit-headers-10
 */
export function rateLimitResponses(limit: number): MiddlewareObj<RouteEvent> {
  const take = rateLimiter(limit);
  const finish: NonNullable<MiddlewareObj<RouteEvent>["after"]> = async (request) => {
    const permit = await request.event.permit;
    if (!permit) return;
    const { requests, reset } = permit;
    if (!permit.granted) {
      const detail = `This account may make ${requests} requests in ${windowSeconds} seconds. Try again in ${reset} s.`;
      const error = new ApiError("rate_limited", detail, { retryAfter: reset });
      request.error = error;
      request.response = problemResponse(error, request.event.requestContext.requestId);
    }
    const { headers } = request.response;
    headers["ratelimit-policy"] = `"account";q=${requests};w=${windowSeconds}`;
    headers.ratelimit = `"account";r=${permit.remaining};t=${reset}`;
  };
  return {
    before: async ({ event }) => {
      const { accountId, rateLimitRequests } = authorizedCaller(event);
      event.permit = take(accountId, rateLimitRequests);
      // If no lease is needed, the permit is already decided.
      throwUnlessGranted(await Promise.race([event.permit, undefined]));
    },
    after: finish,
    onError: finish,
  };
}

/** @throws ApiError `rate_limited`, which the middleware replaces by its own response */
export function throwUnlessGranted(permit: Permit | undefined): void {
  if (permit?.granted === false) throw new ApiError("rate_limited", "The rate limit is used up.");
}
