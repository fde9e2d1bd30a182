import { isRecord } from "../../is-record.ts";

/** An answer of the gateway. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string | Buffer;
}

const json = "application/json";

const gatewayMessages = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  413: "Request Entity Too Large",
  429: "Too Many Requests",
  431: "Request Header Fields Too Large",
  500: "Internal Server Error",
  503: "Service Unavailable",
} as const;

/** An answer that the gateway gives by itself. */
export const gatewayResponse = (status: keyof typeof gatewayMessages): HttpResponse => ({
  status,
  headers: { "content-type": json },
  body: JSON.stringify({ message: gatewayMessages[status] }),
});

/** The gateway sets these itself. */
const ownHeaders = new Set(["connection", "content-length", "transfer-encoding", "apigw-requestid"]);

/**
 * The answer that a function's result, in payload format 2.0, stands for; 500 when it stands for none.
 *
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
 */
export function toHttpResponse(result: unknown): HttpResponse {
  if (!isRecord(result) || !("statusCode" in result)) {
    return { status: 200, headers: { "content-type": json }, body: JSON.stringify(result) };
  }
  const { statusCode, headers = {}, cookies = [], body = "", isBase64Encoded = false } = result;
  const sent = toHeaders(headers ?? {});
  if (!isStatus(statusCode) || !sent || !isStringArray(cookies) || typeof (body ?? "") !== "string") {
    return gatewayResponse(500);
  }
  return {
    status: statusCode,
    headers: {
      "content-type": "text/plain; charset=utf-8",
      ...sent,
      ...(cookies.length > 0 && { "set-cookie": cookies }),
    },
    body: isBase64Encoded === true ? Buffer.from(String(body), "base64") : String(body ?? ""),
  };
}

/** Headers in lower case; undefined when one cannot be sent. */
function toHeaders(headers: unknown): Record<string, string> | undefined {
  if (!isRecord(headers)) return undefined;
  const sent: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return undefined;
    if (
      !["string", "number", "boolean"].includes(typeof value) ||
      /[^\t\x20-\x7e\x80-\xff]/.test(String(value))
    ) {
      return undefined;
    }
    if (!ownHeaders.has(name.toLowerCase())) sent[name.toLowerCase()] = String(value);
  }
  return sent;
}

const isStatus = (value: unknown): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= 200 && value <= 599;

const isStringArray = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === "string");
