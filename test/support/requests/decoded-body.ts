import { gunzipSync } from "node:zlib";
import type { APIGatewayProxyStructuredResultV2 } from "aws-lambda";

/** The text of a function's response. API Gateway decodes base64, and then the client decodes the `Content-Encoding`. */
export function decodedBody({ body = "", headers = {}, isBase64Encoded }: APIGatewayProxyStructuredResultV2) {
  const bytes = Buffer.from(body, isBase64Encoded ? "base64" : "utf8");
  return (headers["content-encoding"] === "gzip" ? gunzipSync(bytes) : bytes).toString();
}
