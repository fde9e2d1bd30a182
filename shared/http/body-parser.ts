import type { MiddlewareObj } from "@middy/core";
import httpJsonBodyParser from "@middy/http-json-body-parser";
import { ApiError, type Fault, type FaultCode } from "../errors.ts";
import { bodyBytes, isIntact, isWithin } from "./body-bytes.ts";
import { duplicateKeys } from "./duplicate-keys.ts";
import { addFaults } from "./faults.ts";
import { exceededLimit, limitMessages, maxBodyBytes } from "./json-limits.ts";
import type { RouteEvent } from "./route-event.ts";

/** @see https://www.rfc-editor.org/rfc/rfc6839#section-3.1 */
const jsonType = /^application\/(?:[a-z0-9.+-]+\+)?json\s*(?:;|$)/i;

/** A body that is sent as it is, with the header or without it. */
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
      const fault = await faultBefore(event);
      if (fault) {
        addFaults(event, fault);
        event.body = undefined;
        return;
      }
      const text = bodyBytes(event).toString();
      try {
        await json.before?.(request);
        addFaults(event, ...duplicateKeys(text).map(duplicateFault));
      } catch (error) {
        if (!isForbiddenKey(error)) throw error;
        addFaults(event, forbiddenKey);
        event.body = undefined;
      }
    },
  };
}

/** The fault of a body before middy parses it: middy calls a function for each value, so they must be few by then. */
async function faultBefore(event: RouteEvent): Promise<Fault | undefined> {
  if (!event.body) return bodyFault("required", "must be present: a JSON object");
  const { "content-type": type, "content-encoding": encoding = "" } = event.headers;
  if (!jsonType.test(type ?? "")) throw unsupportedType(type);
  if (!uncompressed.test(encoding)) throw unsupportedEncoding();
  if (!isWithin(event, maxBodyBytes)) return bodyFault("too_large", `must be at most ${maxBodyBytes} bytes`);
  if (!isIntact(event))
    return bodyFault("invalid_encoding", "must be UTF-8, with any U+FFFD escaped as \\ufffd");
  const text = bodyBytes(event).toString();
  if (!isJson(text)) {
    // Loading its parser takes a tenth of the time that a bundle takes.
    const { invalidJsonMessage } = await import("./invalid-json.ts");
    return bodyFault("invalid_json", invalidJsonMessage(text));
  }
  const exceeded = exceededLimit(text);
  return exceeded && bodyFault(exceeded, limitMessages[exceeded]);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const isForbiddenKey = (error: unknown) =>
  error instanceof Error && error.message.startsWith("Forbidden key");

const duplicateFault = (field: string): Fault => ({
  in: "body",
  field,
  code: "duplicate_key",
  message: "must be given once",
});

const bodyFault = (code: FaultCode, message: string): Fault => ({ in: "body", field: "", code, message });

const forbiddenKey = bodyFault(
  "forbidden_key",
  "must not have a key that JavaScript reserves (__proto__, constructor.prototype)",
);

const unsupportedType = (type: string | undefined) =>
  unsupported(
    "content-type",
    `must be application/json or another JSON type: ${type === undefined ? "none" : "another"} was sent`,
  );

/** The response names what is accepted: clients tell by this header that it is not about the media type. */
const unsupportedEncoding = () =>
  unsupported("content-encoding", "must be absent: send the body uncompressed", {
    "accept-encoding": "identity",
  });

function unsupported(
  field: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): ApiError {
  const fault: Fault = { in: "header", field, code: "unsupported", message };
  return new ApiError("unsupported_media_type", `The ${field} ${message}.`, { faults: [fault], headers });
}
