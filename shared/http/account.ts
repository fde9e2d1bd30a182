import type { RouteEvent } from "./route-handler.ts";

/**
 * The account whose key a request carries.
 *
 * @throws Error when the authorizer gave none: no request may go on without
 */
export function authorizedAccount({ requestContext }: RouteEvent): string {
  const account: unknown = requestContext.authorizer?.lambda?.accountId;
  if (typeof account !== "string" || account === "") throw new Error("The authorizer gave no account.");
  return account;
}
