import type {
  APIGatewayRequestAuthorizerEventV2,
  APIGatewaySimpleAuthorizerWithContextResult,
} from "aws-lambda";
import { type AuthorizerContext, findApiKey } from "../shared/domain/api-keys.ts";
import { maskedFailures } from "../shared/logging/masked-failures.ts";

/**
 * Authorizes a request whose `Authorization: Bearer <API_KEY>` names a live key.
 *
 * It never throws for a bad key, because API Gateway would respond 500.
 */
async function authorize({
  identitySource,
}: APIGatewayRequestAuthorizerEventV2): Promise<
  APIGatewaySimpleAuthorizerWithContextResult<AuthorizerContext> | { isAuthorized: false }
> {
  const [, apiKey = ""] = /^Bearer +(\S+) *$/i.exec(identitySource?.[0] ?? "") ?? [];
  const context = await findApiKey(apiKey);
  return context ? { isAuthorized: true, context } : { isAuthorized: false };
}

export const handler = maskedFailures(authorize);
