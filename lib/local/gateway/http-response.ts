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

/** Headers that only the gateway sets. */
const gatewayHeaders = new Set(["connection", "content-length", "transfer-encoding", "apigw-requestid"]);

/**
 * Converts a function's result, in payload format 2.0, to a response; 500 when the result is invalid.
 *
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
 */
export function toHttpResponse(result: unknown): HttpResponse {
  if (!isRecord(result) || !("statusCode" in result)) {
    return { status: 200, headers: { "content-type": json }, body: JSON.stringify(result) };
  }
  const { statusCode, headers = {}, body = "", isBase64Encoded = false } = result;
  const validHeaders = toHeaders(headers ?? {});
  if (!isStatus(statusCode) || !validHeaders || typeof (body ?? "") !== "string") {
    return gatewayResponse(500);
  }
  return {
    status: statusCode,
    headers: { "content-type": "text/plain; charset=utf-8", ...validHeaders },
    body: isBase64Encoded === true ? Buffer.from(String(body), "base64") : String(body ?? ""),
  };
}

/** Converts header names to lower case; undefined when a header is invalid. */
function toHeaders(headers: unknown): Record<string, string> | undefined {
  if (!isRecord(headers)) return undefined;
  const valid: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (!["string", "number", "boolean"].includes(typeof value)) return undefined;
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || /[^\t\x20-\x7e\x80-\xff]/.test(String(value)))
      return undefined;
    if (!gatewayHeaders.has(name.toLowerCase())) valid[name.toLowerCase()] = String(value);
  }
  return valid;
}

const isStatus = (value: unknown): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= 200 && value <= 599;
