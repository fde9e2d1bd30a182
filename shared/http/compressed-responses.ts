import type { MiddlewareObj, Request } from "@middy/core";
import type { RouteEvent } from "./route-event.ts";

/**
 * The size from which a body is compressed, in bytes.
 *
 * A smaller body and its headers, about 450 bytes, fit into one TCP segment of 1,460 bytes, so compression would not make
 * it arrive earlier. From this size on, gzip leaves at most half of a page.
 */
export const compressedFrom = 1024;

/** The level of gzip, from 1 to 9. For 20 leads, level 1 leaves 10 % more bytes, and level 9 only takes longer. */
const level = 6;

/**
 * Compresses the large responses of a route, also problems, for callers that accept gzip. An HTTP API of API Gateway does
 * not compress. Every response has `Vary`, because another response to the same request can be larger.
 *
 * Use it first, so that it sees the responses of all others.
 *
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
 */
export function compressedResponses(): MiddlewareObj<RouteEvent> {
  const finish = async ({ event, response }: Request<RouteEvent>): Promise<void> => {
    const { headers, body } = response;
    headers.vary = [headers.vary, "Accept-Encoding"].filter(Boolean).join(", ");
    const accepted = event.headers["accept-encoding"];
    if (accepted === undefined || Buffer.byteLength(body) < compressedFrom || !acceptsGzip(accepted)) return;
    // Loaded on demand: most functions never compress, and loading zlib takes a tenth of a cold start.
    const { gzipSync } = await import("node:zlib");
    headers["content-encoding"] = "gzip";
    response.body = gzipSync(body, { level }).toString("base64");
    response.isBase64Encoded = true;
  };
  return { after: finish, onError: finish };
}

/**
 * Whether an `Accept-Encoding` names gzip, without the weight 0.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-12.5.3
 */
const acceptsGzip = (header: string) =>
  header.split(",").some((coding) => /^\s*gzip\s*(?:;|$)/i.test(coding) && !/;\s*q=0[.0]*\s*$/i.test(coding));
