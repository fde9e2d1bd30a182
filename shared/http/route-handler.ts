import middy, { type MiddlewareObj } from "@middy/core";
import type { ValidateFunction } from "ajv";
import type { APIGatewayProxyResultV2, Context } from "aws-lambda";
import { type IdempotentRequest, idempotentRequest, Replayed } from "../domain/idempotent-replay.ts";
import { rateLimit } from "../domain/rate-limit.ts";
import { ApiError } from "../errors.ts";
import { maskedFailures } from "../logging/masked-failures.ts";
import type { Page } from "../pages/page.ts";
import type { Route, RouteInput } from "../routes.ts";
import { compressedResponses } from "./compressed-responses.ts";
import { creationTimesCheck } from "./creation-times-check.ts";
import { invalidInput } from "./faults.ts";
import { idempotencyKeyParser } from "./idempotency-key-parser.ts";
import { problemResponses } from "./problem-responses.ts";
import { queryParser } from "./query-parser.ts";
import { awaitPermit, rateLimitResponses } from "./rate-limit-responses.ts";
import { requestLog } from "./request-log.ts";
import { requestValidator, validInput } from "./request-validator.ts";
import { authorizedCaller, type RouteEvent } from "./route-event.ts";

/** A valid request to a route. */
type RouteRequest<R extends Route> = RouteInput<R> & {
  /** The account whose API key the request carries. */
  readonly account: string;
  /** The Idempotency-Key and what it belongs to; undefined for a request without one. */
  readonly idempotency: IdempotentRequest | undefined;
};

/** Time of an invocation that is kept for responding `busy`, in milliseconds. */
const responseMargin = 500;

/**
 * The Lambda handler of a route: valid input in, one call, its result out as JSON.
 *
 * @param bodyParser parses the body, or refuses it: the bundle of a route that takes none has no parser
 * @param validate the route's validator, compiled from its schemas
 */
export function routeHandler<R extends Route>(
  route: R,
  bodyParser: MiddlewareObj<RouteEvent>,
  validate: ValidateFunction,
  handle: (request: RouteRequest<R>) => Promise<object>,
) {
  const writes = route.kind === "write";
  const handler = middy<RouteEvent, APIGatewayProxyResultV2>({
    timeoutEarlyInMillis: responseMargin,
    requestEnd: requestLog(route.name),
  })
    .use(compressedResponses())
    .use(rateLimit ? rateLimitResponses(rateLimit) : [])
    .use(problemResponses(route))
    .use(writes ? writeAccess() : [])
    .use(queryParser(route.query))
    .use(writes ? idempotencyKeyParser() : creationTimesCheck())
    .use(bodyParser)
    .use(requestValidator(validate))
    .handler(async (event: RouteEvent) => {
      const { query, body, faults = [], idempotencyKey: key } = event;
      if (faults.length > 0) throw invalidInput(faults);
      if (writes) await awaitPermit(event);
      const { accountId: account } = authorizedCaller(event);
      const idempotency =
        key === undefined ? key : idempotentRequest(account, route.name, key, body as object);
      const request = { ...validInput<R>(event), account, idempotency };
      return toResponse(route, query, await handle(request));
    });
  // Middy throws what fails while an error is handled, with that error attached.
  return maskedFailures((event: RouteEvent, context: Context) => handler(event, context));
}

function toResponse(route: Route, query: object, result: object) {
  const replayed = result instanceof Replayed;
  return {
    statusCode: route.success,
    headers: {
      "content-type": "application/json",
      "cache-control": "no-store",
      ...(replayed && { "idempotency-replayed": "true" }),
      ...(isPage(result) && { link: pageLinks(route.path, query, result.pagination) }),
    },
    body: JSON.stringify(replayed ? result.response : result),
  };
}

const isPage = (result: object): result is Page<unknown> => "pagination" in result;

/**
 * The `Link` header of a page: `first`, `prev`, `next` and `last` as relative references, with the filters and the
 * limit of the request. An empty list has one page. A page past the end has no `next`, and its `prev` is the last page.
 *
 * @param query of the request, valid
 * @see https://www.rfc-editor.org/rfc/rfc8288
 */
export function pageLinks(path: string, query: object, { page, limit, total }: Page<unknown>["pagination"]) {
  const last = Math.max(1, Math.ceil(total / limit));
  const targets = {
    first: 1,
    ...(page > 1 && { prev: Math.min(page - 1, last) }),
    ...(page < last && { next: page + 1 }),
    last,
  };
  const links = Object.entries(targets).map(([rel, target]) => {
    const parameters = new URLSearchParams({ ...query, page: String(target), limit: String(limit) });
    return `<${path}?${parameters}>; rel="${rel}"`;
  });
  return links.join(", ");
}

/**
 * Refuses a request whose API key may only read, before anything of the request is parsed. The authorizer cannot refuse
 * it, because API Gateway caches its result for all routes.
 */
function writeAccess(): MiddlewareObj<RouteEvent> {
  return {
    before: ({ event }) => {
      const { access } = authorizedCaller(event);
      if (access !== "full") throw new ApiError("insufficient_access", "This API key may only read.");
    },
  };
}
