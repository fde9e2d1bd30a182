import { isUtf8 } from "node:buffer";
import type { RouteEvent } from "./route-event.ts";

/** What a decoder puts in place of bytes that are not UTF-8. */
const replacementCharacter = "\ufffd";

/** The bytes of a body that is not parsed yet. */
export const bodyBytes = ({ body, isBase64Encoded }: RouteEvent): Buffer =>
  Buffer.from(String(body), isBase64Encoded ? "base64" : "utf8");

/** Whether a body has at most this many bytes. A body that cannot is not decoded: it can have megabytes. */
export function isWithin(event: RouteEvent, most: number): boolean {
  const { length } = String(event.body);
  const longest = event.isBase64Encoded ? Math.ceil(most / 3) * 4 : most;
  return length <= longest && bodyBytes(event).length <= most;
}

/**
 * Whether a body arrived as the caller sent it, in UTF-8.
 *
 * API Gateway passes JSON as text, in which a decoder has put U+FFFD in place of every byte sequence that is not UTF-8.
 * A caller can also send U+FFFD itself. Its three bytes then leave the length as in `Content-Length`, which a
 * replacement changes, unless it stands for exactly three bytes: the first three of a character of four.
 *
 * @see https://encoding.spec.whatwg.org/#utf-8-decoder
 */
export function isIntact(event: RouteEvent): boolean {
  const bytes = bodyBytes(event);
  if (event.isBase64Encoded) return isUtf8(bytes);
  return (
    !String(event.body).includes(replacementCharacter) ||
    bytes.length === Number(event.headers["content-length"])
  );
}
