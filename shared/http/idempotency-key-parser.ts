import type { MiddlewareObj } from "@middy/core";
import { type Fault, memberName } from "../errors.ts";
import { addFaults, type RouteEvent } from "./route-event.ts";

export const maxKeyLength = 255;

/**
 * A key as most APIs accept it: visible ASCII, without the comma that joins a header sent twice.
 *
 * Both patterns are in the OpenAPI document, so they use only syntax that regular expressions of all languages share.
 */
const bare = `[!#-+\\x2D-\\x5B\\x5D-~]{1,${maxKeyLength}}`;

/**
 * A key as the draft standard defines it: a string in double quotes, in which a backslash escapes a quote or a
 * backslash.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9651#section-3.3.3
 */
const quoted = `\\x22((?:[ !#-\\x5B\\x5D-~]|\\\\[\\x22\\\\]){1,${maxKeyLength}})\\x22`;

/** What the header must match. */
export const idempotencyKeyPattern = `^(?:${bare}|${quoted})$`;

const keyForm = new RegExp(idempotencyKeyPattern);

/** Other names under which some clients send the header, such as `x-idempotency-key` and `idempotence-token`. */
const misnamed = /in?dempot/;

/**
 * Parses the Idempotency-Key, bare or quoted, into `event.idempotencyKey`. The response lists its fault with the others.
 * A key that is sent only under another name is a fault, because its sender relies on a protection that does not exist.
 *
 * @see https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header-07
 */
export function idempotencyKeyParser(): MiddlewareObj<RouteEvent> {
  return {
    before: ({ event }) => {
      const header = event.headers["idempotency-key"];
      if (header === undefined) {
        const names = Object.keys(event.headers).filter((name) => misnamed.test(name));
        return addFaults(event, ...names.map((name) => misnamedFault(memberName(undefined, name))));
      }
      const [whole, inQuotes] = keyForm.exec(header.trim()) ?? [];
      const key = inQuotes?.replace(/\\(.)/g, "$1") ?? whole;
      if (key) event.idempotencyKey = key;
      else addFaults(event, fault);
    },
  };
}

const fault: Fault = {
  in: "header",
  field: "idempotency-key",
  code: "invalid_format",
  message: `must be given once, with 1 to ${maxKeyLength} visible ASCII characters (commas, quotes and backslashes only in a key in double quotes)`,
};

const misnamedFault = (field: string): Fault => ({
  in: "header",
  field,
  code: "unknown",
  message: "is not a header of this route: send the key as Idempotency-Key",
});
