import { gatewayMessages } from "../../gateway-messages.ts";
import { isRecord } from "../../is-record.ts";

/** A response of the gateway. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

const json = "application/json";

/** Builds a response that the gateway sends by itself. */
export const gatewayResponse = (status: keyof typeof gatewayMessages): HttpResponse => ({
  status,
  headers: { "content-type": json },
  body: JSON.stringify({ message: gatewayMessages[status] }),
});

/** What a function returns, in payload format 2.0, as far as ours do. */
interface FunctionResponse {
  readonly statusCode: number;
  readonly headers?: Readonly<Record<string, string | number | boolean>>;
  readonly body?: string;
  readonly isBase64Encoded?: boolean;
}

/**
 * Converts a function's result to a response; 500 for none.
 *
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
 */
export function toHttpResponse(result: unknown): HttpResponse {
  if (!isRecord(result)) return gatewayResponse(500);
  const { statusCode, headers = {}, body = "", isBase64Encoded } = result as unknown as FunctionResponse;
  return {
    status: statusCode,
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]),
    ),
    body: isBase64Encoded ? Buffer.from(body, "base64") : body,
  };
}
