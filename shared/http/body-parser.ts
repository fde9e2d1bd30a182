import { isUtf8 } from "node:buffer";
import { isDeepStrictEqual } from "node:util";
import type { MiddlewareObj } from "@middy/core";
import httpJsonBodyParser from "@middy/http-json-body-parser";
import { ApiError, bodyFault, type Fault } from "../errors.ts";
import { addressFaults, deliveryFaults, sizeFaults, unnamedFaults } from "../schemas/field-schemas.ts";
import { maxBodyBytes, scanJson } from "./json-scan.ts";
import { addFaults, type RouteEvent } from "./route-event.ts";

/** @see https://www.rfc-editor.org/rfc/rfc6839#section-3.1 */
const jsonType = /^application\/(?:[a-z0-9.+-]+\+)?json\s*(?:;|$)/i;

/** The value of `Content-Encoding` for an uncompressed body, which may be empty. */
const uncompressed = /^\s*(?:identity\s*)?$/i;

/**
 * Parses a JSON body. The response lists its faults with those of the query and of the schema.
 *
 * @throws ApiError `unsupported_media_type`
 */
export function bodyParser(): MiddlewareObj<RouteEvent> {
  const json = httpJsonBodyParser({ disableContentTypeCheck: true }) as unknown as MiddlewareObj<RouteEvent>;
  return {
    before: async (request) => {
      const { event } = request;
      const refuse = (fault: Fault) => {
        addFaults(event, fault);
        event.body = undefined;
      };
      const fault = notJson(event);
      if (fault) return refuse(fault);
      const { exceeded, duplicates } = scanJson(bodyBytes(event).toString());
      // Middy calls a function for each value, so the number of values must be limited by now.
      if (exceeded) return refuse(exceeded);
      try {
        await json.before?.(request);
        // PHP writes a map without entries as an array.
        for (const name of ["metadata", "addresses"])
          if (isDeepStrictEqual(Object(event.body)[name], [])) Object(event.body)[name] = {};
        addFaults(event, ...duplicates.map(duplicateFault), ...sizeFaults(event.body));
        addFaults(event, ...addressFaults(event.body));
        if ("ifExists" in event.query) addFaults(event, ...unnamedFaults(event.body));
        if (Reflect.get(event.query, "update") === "message") addFaults(event, ...deliveryFaults(event.body));
      } catch (error) {
        if (!(error instanceof Error && error.message.startsWith("Forbidden key"))) throw error;
        refuse(forbiddenKey);
      }
    },
  };
}

function notJson(event: RouteEvent): Fault | undefined {
  if (!event.body) return bodyFault("", "required", "must be present: a JSON object");
  const { "content-type": type, "content-encoding": encoding = "" } = event.headers;
  if (!jsonType.test(type ?? "")) throw unsupportedType(type);
  if (!uncompressed.test(encoding))
    // By this header, clients know that the encoding is refused and not the media type.
    throw unsupported("content-encoding", "must be absent: send the body uncompressed", {
      "accept-encoding": "identity",
    });
  // A body that is too long in any case is not decoded, because it can have megabytes.
  const longest = event.isBase64Encoded ? Math.ceil(maxBodyBytes / 3) * 4 : maxBodyBytes;
  const bytes = String(event.body).length > longest ? undefined : bodyBytes(event);
  if (!bytes || bytes.length > maxBodyBytes)
    return bodyFault("", "too_large", `must be at most ${maxBodyBytes} bytes`);
  if (!isIntact(event, bytes))
    return bodyFault("", "invalid_encoding", "must be UTF-8, with any U+FFFD escaped as \\ufffd");
  try {
    JSON.parse(bytes.toString());
    return undefined;
  } catch (error) {
    return invalidJson(error as SyntaxError);
  }
}

/** States in V8's words why a body is not JSON, without the end of V8's message, which quotes the body. */
function invalidJson({ message }: SyntaxError): Fault {
  const reason = message
    .replace(/(?:, (?:\.{3})?)?".*$/s, "")
    // A character that is not visible ASCII is named by its code, because many are invisible, such as a byte order mark.
    // V8's message has only the first UTF-16 unit of a character that has two.
    .replace(/'([^!-~])'$/, (_, unit: string) => unitName(unit))
    .replace(/(?: in JSON)? at position \d+ \(line (\d+) column (\d+)\)$/, " at line $1, column $2")
    .replace(/^[A-Z]/, (letter) => `: ${letter.toLowerCase()}`);
  return bodyFault("", "invalid_json", `must be valid JSON${reason}`);
}

/** The name of a UTF-16 unit, such as `U+FEFF`. */
const unitName = (unit: string) => `U+${unit.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;

const duplicateFault = (field: string) => bodyFault(field, "duplicate_key", "must be given once");

const forbiddenKey = bodyFault(
  "",
  "forbidden_key",
  "must not have a key that JavaScript reserves (__proto__, constructor.prototype)",
);

/** The error for a type that is not JSON. It repeats the type only if that has the form of a media type. */
export const unsupportedType = (type: string | undefined) => {
  const [named] = /^[\w.+-]{1,64}\/[\w.+-]{1,64}(?=\s*(?:;|$))/.exec(type ?? "") ?? [];
  const sent = type === undefined ? "none" : (named ?? "another");
  return unsupported("content-type", `must be a JSON type, such as application/json: ${sent} was sent`);
};

function unsupported(field: string, message: string, headers = {}): ApiError {
  const fault: Fault = { in: "header", field, code: "unsupported", message };
  return new ApiError("unsupported_media_type", `The ${field} ${message}.`, { faults: [fault], headers });
}

const bodyBytes = ({ body, isBase64Encoded }: RouteEvent): Buffer =>
  Buffer.from(String(body), isBase64Encoded ? "base64" : "utf8");

/**
 * Whether a body arrived as the caller sent it, in UTF-8.
 *
 * API Gateway passes JSON as text, in which a decoder has put U+FFFD in place of every byte sequence that is not UTF-8.
 * If the caller has sent U+FFFD itself, the length still equals `Content-Length`. A replacement changes the length, unless
 * it stands for exactly three bytes: the first three bytes of a four-byte character.
 *
 * @see https://encoding.spec.whatwg.org/#utf-8-decoder
 */
const isIntact = ({ body, headers, isBase64Encoded }: RouteEvent, bytes: Buffer): boolean =>
  isBase64Encoded
    ? isUtf8(bytes)
    : !String(body).includes("\ufffd") || bytes.length === Number(headers["content-length"]);
