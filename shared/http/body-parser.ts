import { isUtf8 } from "node:buffer";
import type { MiddlewareObj } from "@middy/core";
import httpJsonBodyParser from "@middy/http-json-body-parser";
import { ApiError, type Fault } from "../errors.ts";
import type { RouteEvent } from "./route-handler.ts";

/** The longest body that is parsed, in bytes: several times what the longest valid request needs. */
const maxBodyBytes = 256 * 1024;

/**
 * Parses a JSON body, or refuses any body where the route takes none.
 *
 * The bound on its size is what bounds the number of faults that a validator, which reports all, can find.
 */
export function bodyParser(takesBody: boolean): MiddlewareObj<RouteEvent> {
  const json = httpJsonBodyParser() as unknown as MiddlewareObj<RouteEvent>;
  return {
    before: async (request) => {
      const { isBase64Encoded } = request.event;
      const body = request.event.body as string | undefined;
      if (!takesBody) {
        if (body) throw bodyError("unexpected", "must be absent: this route takes no body");
        return;
      }
      const bytes = Buffer.from(body ?? "", isBase64Encoded ? "base64" : "utf8");
      if (bytes.length > maxBodyBytes) throw bodyError("too_large", `must be at most ${maxBodyBytes} bytes`);
      if (!isUtf8(bytes)) throw bodyError("invalid_encoding", "must be UTF-8");
      try {
        await json.before?.(request);
      } catch (error) {
        throw bodyParserError(error, request.event);
      }
    },
  };
}

/** middy answers 422 to a body that cannot be parsed; here, that is invalid input like any other. */
function bodyParserError(error: unknown, { headers, body }: RouteEvent): unknown {
  const statusCode = error instanceof Error && "statusCode" in error ? error.statusCode : undefined;
  if (statusCode === 415) {
    const sent = headers["content-type"] === undefined ? "none was sent" : "another was sent";
    const message = `must be application/json or another JSON type: ${sent}`;
    const fault: Fault = { in: "header", field: "content-type", code: "unsupported", message };
    return new ApiError("unsupported_media_type", `The content-type ${message}.`, { faults: [fault] });
  }
  if (statusCode !== 422) return error;
  if (!body) return bodyError("required", "must be present: a JSON object");
  if (error instanceof Error && error.message.startsWith("Forbidden key"))
    return bodyError(
      "forbidden_key",
      "must not have a key that JavaScript reserves (__proto__, constructor.prototype)",
    );
  return bodyError("invalid_json", "must be valid JSON");
}

const bodyError = (code: string, message: string) =>
  new ApiError("invalid_input", `The request body is invalid: it ${message}.`, {
    faults: [{ in: "body", field: "", code, message }],
  });
