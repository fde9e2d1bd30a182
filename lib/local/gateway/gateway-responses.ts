import type { APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import { gatewayMessages } from "../../gateway-messages.ts";

/** Builds a response that the gateway sends by itself. */
export const gatewayResponse = (status: keyof typeof gatewayMessages) =>
  Response.json({ message: gatewayMessages[status] }, { status });

/**
 * Converts what a function returned to a response.
 *
 * @throws Error when it is not in payload format 2.0
 */
export function toResponse(result: unknown): Response {
  const { statusCode, headers, body, isBase64Encoded } = Object(result) as APIGatewayProxyStructuredResultV2;
  if (!Number.isInteger(statusCode) || typeof (body ?? "") !== "string")
    throw new Error("a function returned no statusCode, or a body that is not a string");
  // `Response` checks the status and the headers. For a status without a body, such as 204, it rejects even an empty body.
  return new Response((isBase64Encoded && body ? Buffer.from(body, "base64") : body) || null, {
    status: statusCode,
    headers: headers as Record<string, string>,
  });
}
