import fc from "fast-check";
import { framings } from "./framing.ts";
import { any, invalid, nearlyAlways, type Part, valid } from "./part.ts";
import { request } from "./request.ts";

/** How a request is encoded; `~key~` is a placeholder for the caller's key, `~otherKey~` for the other account's. */
export interface Wire {
  /** `~method~` is a placeholder for the route's method. */
  readonly method: Part<string>;
  /** `~path~` is a placeholder for the route's path, `~encoded~` and `~joined~` for it with its letters or its last
   * slash percent-encoded. */
  readonly path: Part<string>;
  readonly version: Part<string>;
  /** Complete header lines, sent before all others. */
  readonly lines: Part<readonly string[]>;
  readonly authorization: Part<readonly string[]>;
  /** The name of a framing. */
  readonly framing: Part<string>;
}

const constants = (...values: string[]) => fc.constantFrom(...values);

const method = nearlyAlways(
  valid(fc.constant("~method~")),
  invalid(constants(..."HEAD OPTIONS PUT DELETE PATCH TRACE QUERY M-SEARCH PRI FOO get".split(" "))),
  invalid(constants("CONNECT", "", "G\0T", "GET GET", "G\u00c9T", "x".repeat(300))),
);

const path = nearlyAlways(
  valid(constants("~path~", "~encoded~", "http://evil.example~path~")),
  invalid(
    constants("~path~/", "/~path~", "~path~%2f", "~path~%00", "~path~;x=1", "~path~%20", "~path~%3fpage=1"),
  ),
  invalid(
    constants("/x/%2e%2e~path~", "/./~path~", "~path~/%2e", "~path~/..%2f..", "/%252e%252e~path~", "*", "/"),
  ),
  invalid(
    constants("~path~%c0%ae", "~path~%zz", "~path~%", "~path~%ff", "/api/v1/%6ceads/lead_1", "//evil~path~"),
  ),
  any(constants("~joined~", "~joined~%20", "~path~#x", "~path~\u00e9", "ftp://x~path~", "x~path~")),
  any(fc.string({ maxLength: 20 }).map((text) => `/${encodeURIComponent(text.toWellFormed())}`)),
);

const version = nearlyAlways(
  valid(constants("HTTP/1.1")),
  any(constants("HTTP/1.0", "HTTP/1.2", "HTTP/0.9", "HTTP/2.0", "http/1.1", "HTTP/1.1 ", "HTTP/9.9", "")),
);

const host = "Host: 127.0.0.1";

const lines = nearlyAlways<readonly string[]>(
  valid(
    constants(host, "host:localhost:3000", `${host}\r\nX-Long: ${"x".repeat(5000)}`).map((line) => [line]),
  ),
  invalid(
    constants("X-A: a\0b", "X A: b", "no colon", ": no name", " X-A: b", "X\u00e9: a").map((line) => [
      host,
      line,
    ]),
  ),
  invalid(constants("Host: x", "Host: 127.0.0.1.example:3000").map((line) => [line])),
  invalid(constants(`X-Long: ${"x".repeat(20_000)}`, "X-A: a\rb", "X-A\0: b").map((line) => [host, line])),
  any(
    constants("X-A: b\r\n folded", "X-A: b\n", "X-A: \u00ff\u0080", "X-A:\tb\t", "Cookie", "X-A: \u007f").map(
      (line) => [host, line],
    ),
  ),
  any(
    fc.constantFrom<string[]>(
      [],
      ["Host: a", "Host: b"],
      ["Host: "],
      [host, ...Array.from({ length: 2100 }, (_, i) => (i % 2 ? "a:" : "b:"))],
      [host, "Content-Type: application/json"],
    ),
  ),
);

const authorization = nearlyAlways<readonly string[]>(
  valid(constants("Bearer ~key~", "bearer ~key~", "BEARER   ~key~  ").map((value) => [value])),
  invalid(
    constants("", "Bearer", "Bearer x", "~key~", "Basic ~key~", "Bearer ~key~x", "Bearer ~key~ x").map(
      (value) => [value],
    ),
  ),
  invalid(fc.constantFrom<string[]>([], ["Bearer ~key~", "Bearer ~otherKey~"], ["Bearer ~key~", ""])),
  invalid(
    constants("Bearer ~key~,~otherKey~", "Bearer\0~key~", "Bearer \u00ff", "Bearer %00").map((value) => [
      value,
    ]),
  ),
);

const names = (all: object) => constants(...Object.keys(all));

const framing = nearlyAlways(
  valid(names(framings.good)),
  invalid(names(framings.bad)),
  any(names(framings.unclear)),
);

/** Most requests have at most one unusual part, so that checks after the first are reached too. */
export const wire: fc.Arbitrary<Wire> = fc.record({ method, path, version, lines, authorization, framing });

/** A request on the wire. */
export const wiredRequest = fc.tuple(request, wire);

/** Bytes that are not a request. */
export const noise = fc.oneof(
  fc.uint8Array({ minLength: 1, maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
  constants(
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "\r\n\r\n\r\n",
    "\x16\x03\x01\x02\x00\x01\x00",
    "GET /api/v1/leads",
    "GET /api/v1/leads HTTP/1.1\r\nHost: x\r\n",
    "HTTP/1.1 200 OK\r\n\r\n",
    "\0",
  ).map((text) => Buffer.from(text, "latin1")),
);
