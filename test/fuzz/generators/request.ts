import fc from "fast-check";
import { type RouteName, routes } from "../../../shared/routes.ts";
import { type Body, routeBody } from "./body.ts";
import { any, combineVerdicts, invalid, mostly, type Part, valid } from "./part.ts";
import { routeQuery } from "./query.ts";
import { anyText } from "./text.ts";

/** A request to a route by one of two accounts, before it becomes an event or bytes. */
export interface FuzzRequest {
  readonly route: RouteName;
  readonly who: 0 | 1;
  readonly query: string;
  readonly body: Body | undefined;
  /** The values of `content-type`: none, one or several. */
  readonly types: readonly string[];
  /** Other headers, which do not change the response. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

const goodType = fc.constantFrom(
  "application/json",
  "application/json; charset=utf-8",
  "APPLICATION/JSON",
  "application/vnd.api+json",
  "application/json;",
);

const badType = fc.constantFrom(
  "",
  "text/plain",
  "text/json",
  "application/x-www-form-urlencoded",
  "application/jsonp",
  "application",
  "multipart/form-data; boundary=x",
  "json",
  "*/*",
);

const types: fc.Arbitrary<Part<string[]>> = mostly(
  valid(goodType.map((type) => [type])),
  invalid(badType.map((type) => [type])),
  invalid(fc.tuple(goodType, badType.filter(Boolean)).map(([one, other]) => [other, one])),
  any(fc.array(fc.oneof(goodType, badType), { maxLength: 3 })),
);

const visible = fc.string({ unit: "grapheme-ascii", maxLength: 30 }).map((text) => text.trim());

/** `~unique~` is a placeholder for a new text in each request. */
const header = fc.oneof(
  fc.tuple(
    fc.constant("cookie"),
    fc.array(visible, { maxLength: 3 }).map((all) => all.join("; ")),
  ),
  fc.tuple(fc.constant("idempotency-key"), fc.constantFrom("~unique~", '"~unique~"', "~unique~-x!#$%&'*+")),
  fc.tuple(
    fc.constant("accept-encoding"),
    fc.constantFrom("gzip", "GZIP ; q=0.5, *;q=0", "br, gzip;q=1", "gzip;q=0", "identity;q=0", ",;q=x,gzip"),
  ),
  fc.tuple(
    fc.constantFrom(
      "x-forwarded-for",
      "x-http-method-override",
      "x-amzn-request-id",
      "x-account-id",
      "accept",
      "accept-encoding",
      "range",
      "if-none-match",
      "origin",
      "__proto__",
      "constructor",
      "apigw-requestid",
      "te",
    ),
    fc.oneof(visible, fc.constantFrom("DELETE", "~other0~", "bytes=0-1", "*", "a,b", "=?utf-8?Q?x?=")),
  ),
);

/** Idempotency keys that a route may or may not accept, different in each request. */
const oddKey = fc
  .constantFrom(
    "",
    '"~unique~',
    '"~unique~\\"',
    "~unique~ ~unique~",
    "~unique~,x",
    `~unique~${"x".repeat(300)}`,
  )
  .map((key) => [["idempotency-key", key] as const]);

const headers = mostly<FuzzRequest["headers"]>(
  valid(fc.uniqueArray(header, { selector: ([name]) => name, maxLength: 3 })),
  any(oddKey),
);

/** A body where none is allowed. */
const unexpected: fc.Arbitrary<Part<Body | undefined>> = mostly<Body | undefined>(
  valid(fc.constant(undefined)),
  invalid(fc.constantFrom("{}", "x", "\0").map((text): Body => ({ text, encoding: "utf8" }))),
  any(anyText.map((text): Body => ({ text, encoding: "utf8" }))),
);

const requestTo = (route: RouteName): fc.Arbitrary<Part<FuzzRequest>> => {
  const takesBody = route === "create-lead" || route === "send-message";
  return fc
    .tuple(
      fc.constantFrom(0 as const, 1 as const),
      routeQuery(route),
      takesBody ? (routeBody(route) as fc.Arbitrary<Part<Body | undefined>>) : unexpected,
      takesBody ? types : valid(types.map(({ value }) => value)),
      headers,
    )
    .map(([who, query, body, types, headers]) => ({
      value: { route, who, query: query.value, body: body.value, types: types.value, headers: headers.value },
      verdict: combineVerdicts([query, body, types, headers]),
    }));
};

/** A request to any route. */
export const request = fc.oneof(...(Object.keys(routes) as RouteName[]).map(requestTo));
