import { gunzipSync } from "node:zlib";
import type { APIGatewayProxyStructuredResultV2 } from "aws-lambda";

/** The text of a function's response: API Gateway decodes base64, and then the caller what `Content-Encoding` names. */
export function decodedBody({ body = "", headers = {}, isBase64Encoded }: APIGatewayProxyStructuredResultV2) {
  const bytes = Buffer.from(body, isBase64Encoded ? "base64" : "utf8");
  return decodedText(bytes, headers["content-encoding"]);
}

/** The text of a body. @param encoding the `Content-Encoding`; anything but gzip leaves the bytes as they are */
export const decodedText = (bytes: Buffer, encoding: unknown) =>
  (encoding === "gzip" ? gunzipSync(bytes) : bytes).toString();
