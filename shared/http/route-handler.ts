import middy from "@middy/core";
import validator, { type Options } from "@middy/validator";
import type { ValidateFunction } from "ajv";
import type {
  APIGatewayProxyEventV2WithLambdaAuthorizer,
  APIGatewayProxyResultV2,
  Context,
} from "aws-lambda";
import type { AuthorizerContext } from "../domain/api-keys.ts";
import { type IdempotentRequest, idempotentRequest, Replayed } from "../domain/idempotency.ts";
import { type Permit, rateLimit } from "../domain/rate-limiter.ts";
import type { Fault } from "../errors.ts";
import { maskedFailures } from "../logging/masked-failures.ts";
import type { Page } from "../pages/page.ts";
import { type Route, type RouteInputs, type RouteName, routes } from "../routes.ts";
import { authorizedAccount } from "./account.ts";
import { bodyParser } from "./body-parser.ts";
import { awaitPermit, rateLimited } from "./enforce-rate-limit.ts";
import { invalidInput } from "./faults.ts";
import { idempotencyKeyParser } from "./idempotency-key-parser.ts";
import { pageLinks } from "./page-links.ts";
import { problemResponses } from "./problem-responses.ts";
import { queryParser } from "./query-parser.ts";
import { requestLog } from "./request-log.ts";

/** The event of a route; the parsers put the rest on it and replace `body` by what it says. */
export type RouteEvent = Omit<APIGatewayProxyEventV2WithLambdaAuthorizer<AuthorizerContext>, "body"> & {
  body?: unknown;
  query: object;
  idempotencyKey?: string;
  /** Whether the account may make the request; absent when there is no limit. */
  permit?: Permit | Promise<Permit>;
  /** What is wrong beside what the schemas tell of the query and the body. */
  faults?: readonly Fault[];
};

/** A valid request to a route. */
type RouteRequest<Name extends RouteName> = RouteInputs[Name] & {
  /** The account whose key the request carries. */
  readonly account: string;
  /** When the work must have ended, in milliseconds since the epoch. */
  readonly deadline: number;
  /** The request as one that is to be carried out once; undefined when the caller does not ask for that. */
  readonly idempotency: IdempotentRequest | undefined;
};

/** Time of an invocation that is kept back for answering `busy`, in milliseconds. */
const responseMargin = 500;

/**
 * The Lambda handler of a route: valid input in, one call, its result out as JSON.
 *
 * @param validate the route's validator, compiled from its schemas
 */
export function routeHandler<Name extends RouteName>(
  name: Name,
  validate: ValidateFunction,
  handle: (request: RouteRequest<Name>) => Promise<object>,
) {
  const route: Route = routes[name];
  const answered = middy<RouteEvent, APIGatewayProxyResultV2>({
    timeoutEarlyInMillis: responseMargin,
    requestEnd: requestLog(name),
  })
    .use(rateLimit ? rateLimited(rateLimit) : [])
    .use(problemResponses())
    .use(queryParser())
    .use(route.idempotency ? idempotencyKeyParser() : [])
    .use(bodyParser(route.body !== undefined))
    .use(validator({ eventSchema: validate as unknown as NonNullable<Options["eventSchema"]> }))
    .handler(async (event: RouteEvent, context: Context) => {
      const { query, body, faults = [], idempotencyKey: key } = event;
      if (faults.length > 0) throw invalidInput(faults);
      if (route.method === "POST") await awaitPermit(event);
      const account = authorizedAccount(event);
      const deadline = Date.now() + context.getRemainingTimeInMillis() - responseMargin;
      const idempotency = key && idempotentRequest(account, name, key, body as object);
      const request = { query, body, account, deadline, idempotency };
      return success(route, query, await handle(request as unknown as RouteRequest<Name>));
    });
  // What fails while an error is answered would be thrown with that error on it.
  return maskedFailures((event: RouteEvent, context: Context) => answered(event, context));
}

function success(route: Route, query: object, result: object) {
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
