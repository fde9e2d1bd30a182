import { gatewayMessages } from "../../gateway-messages.ts";

/** A response of the gateway. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

/** Builds a response that the gateway sends by itself. */
export const gatewayResponse = (status: keyof typeof gatewayMessages): HttpResponse => ({
  status,
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ message: gatewayMessages[status] }),
});

/** What a function returns, in payload format 2.0. */
interface FunctionResponse {
  readonly statusCode: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  readonly isBase64Encoded?: boolean;
}

/**
 * Converts what a function returned to a response.
 *
 * @throws Error when it is not in payload format 2.0
 */
export function toHttpResponse(response: unknown): HttpResponse {
  const { statusCode, headers, body = "", isBase64Encoded } = Object(response) as FunctionResponse;
  if (!Number.isInteger(statusCode) || typeof body !== "string")
    throw new Error("a function returned no statusCode, or a body that is not a string");
  return {
    status: statusCode,
    // It checks names and values.
    headers: Object.fromEntries(new Headers(headers)),
    body: isBase64Encoded ? Buffer.from(body, "base64") : body,
  };
}
