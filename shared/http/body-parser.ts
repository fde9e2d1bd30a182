import { isUtf8 } from "node:buffer";
import type { MiddlewareObj } from "@middy/core";
import httpJsonBodyParser from "@middy/http-json-body-parser";
import { ApiError, type Fault, type FaultCode } from "../errors.ts";
import { duplicateKeys } from "./duplicate-keys.ts";
import { addFaults } from "./faults.ts";
import type { RouteEvent } from "./route-event.ts";

/** The longest body that is parsed, in bytes: several times what the longest valid request needs. */
export const maxBodyBytes = 256 * 1024;

/** @see https://www.rfc-editor.org/rfc/rfc6839#section-3.1 */
const jsonType = /^application\/(?:[a-z0-9.+-]+\+)?json\s*(?:;|$)/i;

/**
 * Parses a JSON body; on a route that takes none, any body is a fault. The response lists the faults with those of the
 * query and of the schema.
 *
 * The limit on the size also limits the number of faults that a validator can report.
 *
 * @throws ApiError `unsupported_media_type`
 */
export function bodyParser(takesBody: boolean): MiddlewareObj<RouteEvent> {
  const json = httpJsonBodyParser({ disableContentTypeCheck: true }) as unknown as MiddlewareObj<RouteEvent>;
  return {
    before: async (request) => {
      const { event } = request;
      const fault = takesBody ? faultBefore(event) : unexpectedBody(event);
      if (fault || !takesBody) {
        if (fault) addFaults(event, fault);
        event.body = undefined;
        return;
      }
      const text = bodyBytes(event).toString();
      try {
        await json.before?.(request);
        addFaults(event, ...duplicateKeys(text).map(duplicateFault));
      } catch (error) {
        addFaults(event, parserFault(error, text));
        event.body = undefined;
      }
    },
  };
}

const unexpectedBody = ({ body }: RouteEvent) =>
  body ? bodyFault("unexpected", "must be absent: this route takes none") : undefined;

/** The fault of a body that shows before it is parsed. */
function faultBefore(event: RouteEvent): Fault | undefined {
  if (!event.body) return bodyFault("required", "must be present: a JSON object");
  const type = event.headers["content-type"];
  if (!jsonType.test(type ?? "")) throw unsupportedType(type);
  const bytes = bodyBytes(event);
  if (bytes.length > maxBodyBytes) return bodyFault("too_large", `must be at most ${maxBodyBytes} bytes`);
  if (!isUtf8(bytes)) return bodyFault("invalid_encoding", "must be UTF-8");
  return undefined;
}

const bodyBytes = ({ body, isBase64Encoded }: RouteEvent) =>
  Buffer.from(String(body), isBase64Encoded ? "base64" : "utf8");

/** Why middy's parser failed: a key that could change a prototype, JSON nested too deeply for it, or invalid JSON. */
function parserFault(error: unknown, text: string): Fault {
  if (error instanceof Error && error.message.startsWith("Forbidden key")) {
    return bodyFault(
      "forbidden_key",
      "must not have a key that JavaScript reserves (__proto__, constructor.prototype)",
    );
  }
  return isJson(text)
    ? bodyFault("too_deep", "must not be nested so deeply")
    : bodyFault("invalid_json", "must be valid JSON");
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const duplicateFault = (field: string): Fault => ({
  in: "body",
  field,
  code: "duplicate_key",
  message: "must be given once",
});

const bodyFault = (code: FaultCode, message: string): Fault => ({ in: "body", field: "", code, message });

function unsupportedType(type: string | undefined): ApiError {
  const message = `must be application/json or another JSON type: ${type === undefined ? "none" : "another"} was sent`;
  const fault: Fault = { in: "header", field: "content-type", code: "unsupported", message };
  return new ApiError("unsupported_media_type", `The content-type ${message}.`, { faults: [fault] });
}
