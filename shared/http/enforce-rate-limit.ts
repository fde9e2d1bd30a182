import type { MiddlewareObj } from "@middy/core";
import { type Permit, type RateLimit, rateLimiter } from "../domain/rate-limiter.ts";
import { ApiError } from "../errors.ts";
import { authorizedAccount } from "./account.ts";
import { problemResponse } from "./problem-responses.ts";
import type { RouteEvent } from "./route-handler.ts";

/**
 * Holds accounts to a rate of requests, and tells them on every answer how they stand. It asks for the permit beside
 * all other work, and answers 429 in place of whatever that came to; a handler that writes waits for `event.permit`
 * first. What is known to be refused does no work at all.
 *
 * Used before every other middleware, so that it has the last word.
 *
 * @see https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-ratelimit-headers-10
 */
export function rateLimited(limit: RateLimit): MiddlewareObj<RouteEvent> {
  const take = rateLimiter(limit);
  const policy = `"account";q=${limit.requests};w=${limit.seconds}`;
  const finish: NonNullable<MiddlewareObj<RouteEvent>["after"]> = async (request) => {
    const permit = await request.event.permit;
    if (!permit) return;
    if (!permit.granted) {
      const error = tooMany(limit, permit);
      request.error = error;
      request.response = problemResponse(error, request.event.requestContext.requestId);
    }
    const { headers } = request.response;
    headers["ratelimit-policy"] = policy;
    headers.ratelimit = `"account";r=${permit.remaining};t=${permit.reset}`;
  };
  return {
    before: ({ event }) => {
      const permit = take(authorizedAccount(event));
      event.permit = permit;
      if (!(permit instanceof Promise)) refuseUnlessGranted(permit);
    },
    after: finish,
    onError: finish,
  };
}

/**
 * Waits for a request's permit.
 *
 * @throws ApiError `rate_limited`, in whose place the middleware answers
 */
export async function awaitPermit({ permit }: RouteEvent): Promise<void> {
  refuseUnlessGranted(await permit);
}

function refuseUnlessGranted(permit: Permit | undefined): void {
  if (permit?.granted === false) throw new ApiError("rate_limited", "The rate limit is used up.");
}

const tooMany = ({ requests, seconds }: RateLimit, { reset }: Permit) =>
  new ApiError(
    "rate_limited",
    `This account may make ${requests} requests in ${seconds} seconds. Try again in ${reset} s.`,
    { retryAfter: reset },
  );
