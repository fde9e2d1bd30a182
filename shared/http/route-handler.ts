import middy, { type MiddlewareObj } from "@middy/core";
import validator, { type Options } from "@middy/validator";
import type { APIGatewayProxyResultV2, Context } from "aws-lambda";
import { accountFrozen } from "../domain/accounts.ts";
import { type IdempotentRequest, idempotentRequest, type WriteOutcome } from "../domain/idempotent-replay.ts";
import { ApiError, invalidInput } from "../errors.ts";
import { maskedFailures } from "../logging/masked-failures.ts";
import type { Page } from "../pages/page.ts";
import { rateLimit } from "../rate-limit/rate-limiter.ts";
import { chooseBody, createLeadRoute, type Route, type RouteInput } from "../routes.ts";
import type { Validator } from "../schemas/validator.ts";
import { compressedResponses } from "./compressed-responses.ts";
import { linkHeader } from "./link-header.ts";
import { problemResponses } from "./problem-responses.ts";
import { queryParser } from "./query-parser.ts";
import { rateLimitResponses, throwUnlessGranted } from "./rate-limit-responses.ts";
import { requestLog } from "./request-log.ts";
import { addFaults, authorizedCaller, type RouteEvent } from "./route-event.ts";

/** How a route validates and handles the requests with one of its bodies. */
interface Operation<R extends Route, Body> {
  /** Compiled from the schemas of the query and the body. */
  readonly validate: Validator;
  /** @param idempotency identifies the request by its Idempotency-Key; undefined for a request without a key */
  readonly handle: (
    account: string,
    input: RouteInput<R, Body>,
    idempotency: IdempotentRequest | undefined,
  ) => Promise<Result>;
}

type Result = Page<object> | WriteOutcome<object>;

type OtherOperations<R extends Route> = R extends {
  readonly otherBodies: { readonly schemas: infer Schemas };
}
  ? { readonly [Value in keyof Schemas]: Operation<R, Schemas[Value]> }
  : object;

/** The limiter that all routes of a process share, so that each account has one limit. */
const limitRate = rateLimit === undefined ? [] : rateLimitResponses(rateLimit);

/** Time at the end of an invocation that is kept for responding `busy`, in milliseconds. */
const responseMargin = 500;

/**
 * The Lambda handler of a route: it validates the input, calls `handle` once, and responds with the result as JSON.
 *
 * @param parsers for input that only some routes take, so that the bundles of other routes do not have them
 * @param others the operations of requests that choose another body
 */
export function routeHandler<R extends Route>(
  route: R,
  validate: Validator,
  handle: Operation<R, R["body"]>["handle"],
  parsers: readonly MiddlewareObj<RouteEvent>[] = [],
  others = {} as OtherOperations<R>,
) {
  const choose = ({ query }: RouteEvent) =>
    (Reflect.get(others, chooseBody(route, query).value ?? "") ?? { validate, handle }) as Operation<
      R,
      R["body"]
    >;
  const handler = middy<RouteEvent, APIGatewayProxyResultV2>({
    timeoutEarlyInMillis: responseMargin,
    requestEnd: requestLog(route.name),
  })
    .use(compressedResponses())
    .use(limitRate)
    .use(problemResponses(route))
    .use(queryParser(route.query))
    .use(accessCheck(route))
    .use(route.body ? [] : noBody())
    .use([...parsers])
    .use(inputValidator((event) => choose(event).validate))
    .handler(async (event: RouteEvent) => {
      const { query, body, faults = [], idempotencyKey: key } = event;
      if (faults.length > 0) throw invalidInput(faults);
      if (route.method === "POST") throwUnlessGranted(await event.permit);
      const { accountId: account } = authorizedCaller(event);
      const idempotency =
        key === undefined
          ? key
          : idempotentRequest(account, route.name, key, { ...query, ...(body as object) });
      const input = (route.body ? body : query) as RouteInput<R>;
      return toResponse(route, query, await choose(event).handle(account, input, idempotency));
    });
  // If the handling of an error fails, middy throws the second error with the first one attached.
  return maskedFailures((event: RouteEvent, context: Context) => handler(event, context));
}

function toResponse(route: Route, query: object, result: Result) {
  const isPage = "pagination" in result;
  const link = isPage && linkHeader(route.path, query, result);
  return {
    statusCode: !isPage && result.made === "created" ? 201 : 200,
    headers: {
      "content-type": "application/json",
      "cache-control": "no-store",
      ...(!isPage && result.replayed && { "idempotency-replayed": "true" }),
      ...(link && { link }),
    },
    body: JSON.stringify(isPage ? result : result.record),
  };
}

const refusals = {
  read: "This API key may only read.",
  create: `This API key may only create leads, by ${createLeadRoute.method} ${createLeadRoute.path} without ifExists.`,
};

/**
 * Refuses a request that its API key may not send, or that writes to a frozen account, before the body is parsed. The
 * authorizer cannot refuse it, because API Gateway caches its result for all routes.
 */
function accessCheck(route: Route): MiddlewareObj<RouteEvent> {
  return {
    before: ({ event }) => {
      const { access, frozenAt } = authorizedCaller(event);
      const reads = access === "read" && route.method === "GET";
      const creates = access === "create" && route.name === createLeadRoute.name;
      const isAllowed = access === "full" || reads || (creates && !chooseBody(route, event.query).value);
      if (!isAllowed) throw new ApiError("insufficient_access", refusals[access]);
      if (frozenAt && route.method === "POST") throw accountFrozen();
    },
  };
}

/** Makes any body a fault, on a route that takes none. The response lists it with the other faults. */
function noBody(): MiddlewareObj<RouteEvent> {
  return {
    before: ({ event }) => {
      const message = "must be absent: this route takes none";
      if (event.body) addFaults(event, { in: "body", field: "", code: "unexpected", message });
      event.body = undefined;
    },
  };
}

/** Middy's validator with a precompiled function, which middy's types do not know. */
const inputValidator = (choose: (event: RouteEvent) => Validator): MiddlewareObj<RouteEvent> => ({
  before: (request) => {
    const eventSchema = choose(request.event) as unknown as NonNullable<Options["eventSchema"]>;
    return (validator({ eventSchema }) as MiddlewareObj<RouteEvent>).before?.(request);
  },
});
