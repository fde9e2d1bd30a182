import type {
  APIGatewayRequestAuthorizerEventV2,
  APIGatewaySimpleAuthorizerWithContextResult,
} from "aws-lambda";
import { readAccountLimit } from "../shared/domain/account-limit.ts";
import { type AuthorizerContext, findApiKey } from "../shared/domain/api-keys.ts";
import { rateLimit } from "../shared/domain/rate-limit.ts";
import { maskedFailures } from "../shared/logging/masked-failures.ts";

/**
 * Authorizes a request whose `Authorization: Bearer <API_KEY>` names a live key.
 *
 * It never throws for a bad key, because API Gateway would respond 500. It does if a read fails: API Gateway caches the
 * limit of an account with the rest of the result, but no error.
 */
async function authorize({
  identitySource,
}: APIGatewayRequestAuthorizerEventV2): Promise<
  APIGatewaySimpleAuthorizerWithContextResult<AuthorizerContext> | { isAuthorized: false }
> {
  const [, apiKey = ""] = /^Bearer +(\S+) *$/i.exec(identitySource?.[0] ?? "") ?? [];
  const key = await findApiKey(apiKey);
  if (!key) return { isAuthorized: false };
  const rateLimitRequests = rateLimit && (await readAccountLimit(key.accountId));
  return { isAuthorized: true, context: { ...key, ...(rateLimitRequests && { rateLimitRequests }) } };
}

export const handler = maskedFailures(authorize);
