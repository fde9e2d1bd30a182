import type {
  APIGatewayRequestAuthorizerEventV2,
  APIGatewaySimpleAuthorizerWithContextResult,
} from "aws-lambda";
import { type AuthorizerContext, findApiKey } from "../shared/api-keys.ts";

/**
 * Admits a request whose `Authorization: Bearer <API_KEY>` names a live key.
 *
 * It never throws for a bad key: API Gateway answers 500 to a throw.
 */
export async function handler(
  event: APIGatewayRequestAuthorizerEventV2,
): Promise<APIGatewaySimpleAuthorizerWithContextResult<AuthorizerContext> | { isAuthorized: false }> {
  const [, apiKey = ""] = /^Bearer +(\S+) *$/i.exec(event.identitySource?.[0] ?? "") ?? [];
  const context = await findApiKey(apiKey);
  return context ? { isAuthorized: true, context } : { isAuthorized: false };
}
