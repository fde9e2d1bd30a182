import type { APIGatewayProxyEventV2WithLambdaAuthorizer } from "aws-lambda";
import type { AuthorizerContext } from "../domain/api-keys.ts";
import type { Fault } from "../errors.ts";
import type { Permit } from "../rate-limit/rate-limiter.ts";

/** The event of a route. The parsers replace `body` by its parsed content and add the rest. */
export type RouteEvent = Omit<APIGatewayProxyEventV2WithLambdaAuthorizer<AuthorizerContext>, "body"> & {
  body?: unknown;
  query: object;
  idempotencyKey?: string;
  /** Whether the rate limit allows the request; absent without a limit. */
  permit?: Promise<Permit>;
  /** What is wrong with the request besides the errors of its schemas. */
  faults?: readonly Fault[];
};

/** Records faults that no schema can find. The response lists them with the faults of the validator. */
export function addFaults(event: RouteEvent, ...faults: readonly Fault[]): void {
  event.faults = [...(event.faults ?? []), ...faults];
}

/**
 * The account of the request's API key, and what the key may do.
 *
 * @throws Error when the authorizer named no account: no request may go on without an account
 */
export function authorizedCaller({ requestContext }: RouteEvent): AuthorizerContext {
  const caller: Partial<AuthorizerContext> | undefined = requestContext.authorizer?.lambda;
  if (typeof caller?.accountId !== "string" || caller.accountId === "")
    throw new Error("The authorizer named no account.");
  return caller as AuthorizerContext;
}
