import type { APIGatewayRequestAuthorizerEventV2 } from "aws-lambda";
import { readAccountSettings } from "../shared/domain/accounts.ts";
import { type AuthorizerContext, findApiKey } from "../shared/domain/api-keys.ts";
import { maskedFailures } from "../shared/logging/masked-failures.ts";

/**
 * Authorizes a request whose `Authorization: Bearer <API_KEY>` names a live key.
 *
 * It never throws for a bad key, because API Gateway would respond with 500. It throws if a read fails, because API Gateway
 * caches results, which contain the account's settings, but no errors.
 */
export const handler = maskedFailures(async ({ identitySource }: APIGatewayRequestAuthorizerEventV2) => {
  const [, apiKey = ""] = /^Bearer +(\S+) *$/i.exec(identitySource?.[0] ?? "") ?? [];
  const key = await findApiKey(apiKey);
  // The gateway does not pass the reason to the caller. The local run logs it.
  if (typeof key === "string") return { isAuthorized: false, context: { reason: key } };
  const settings = await readAccountSettings(key.accountId);
  return { isAuthorized: true, context: { ...key, ...settings } satisfies AuthorizerContext };
});
