import fc from "fast-check";
import { type RouteName, routes } from "../../../shared/routes.ts";
import { type Body, routeBody } from "./body.ts";
import { any, combineVerdicts, invalid, mostly, type Part, valid } from "./part.ts";
import { routeQuery } from "./query.ts";
import { anyText } from "./text.ts";

/** A request to a route by one of two accounts, before it becomes an event. */
export interface FuzzRequest {
  readonly route: RouteName;
  readonly who: 0 | 1;
  readonly query: string;
  readonly body: Body | undefined;
  readonly type: string;
  /** Further headers. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

const type = mostly(
  valid(
    fc.constantFrom(
      ...["application/json", "application/json; charset=utf-8", "APPLICATION/JSON"],
      ...["application/vnd.api+json", "application/json;"],
    ),
  ),
  invalid(
    fc.constantFrom(
      ..." text/plain text/json application/jsonp application multipart/form-data;boundary=x json */*".split(
        " ",
      ),
      "text/plain,application/json",
    ),
  ),
);

const visible = fc.string({ unit: "grapheme-ascii", maxLength: 30 }).map((text) => text.trim());

/** Headers that do not change the response; `~unique~` is a placeholder for a new text in each request. */
const header = fc.oneof(
  fc.tuple(fc.constant("idempotency-key"), fc.constantFrom("~unique~", '"~unique~"', "~unique~-x!#$%&'*+")),
  fc.tuple(fc.constant("accept-encoding"), fc.constantFrom("gzip", "br, gzip;q=1", "gzip;q=0", ",;q=x,gzip")),
  fc.tuple(
    fc.constantFrom(
      ..."cookie x-forwarded-for x-http-method-override x-account-id accept range origin".split(" "),
      ...["__proto__", "constructor", "apigw-requestid"],
    ),
    fc.oneof(visible, fc.constantFrom("DELETE", "~other0~", "bytes=0-1", "*")),
  ),
);

/** Idempotency keys that a route may or may not accept, different in each request. */
const oddKey = fc
  .constantFrom("", '"~unique~', "~unique~ ~unique~", "~unique~,x", `~unique~${"x".repeat(300)}`)
  .map((key) => [["idempotency-key", key] as const]);

const headers = mostly<FuzzRequest["headers"]>(
  valid(fc.uniqueArray(header, { selector: ([name]) => name, maxLength: 3 })),
  any(oddKey),
);

/** A body where none is allowed. */
const unexpected = mostly<Body | undefined>(
  valid(fc.constant(undefined)),
  invalid(fc.constantFrom("{}", "x", "\0").map((text): Body => ({ text, encoding: "utf8" }))),
);

const requestTo = (route: RouteName): fc.Arbitrary<Part<FuzzRequest>> => {
  const takesBody = route === "create-lead" || route === "send-message";
  return fc
    .tuple(
      fc.constantFrom(0 as const, 1 as const),
      routeQuery(route),
      takesBody ? (routeBody(route) as fc.Arbitrary<Part<Body | undefined>>) : unexpected,
      takesBody ? type : valid(type.map(({ value }) => value)),
      headers,
    )
    .map(([who, query, body, type, headers]) => ({
      value: { route, who, query: query.value, body: body.value, type: type.value, headers: headers.value },
      verdict: combineVerdicts([query, body, type, headers]),
    }));
};

/** A request to any route. */
export const request = fc.oneof(...(Object.keys(routes) as RouteName[]).map(requestTo));

/** Identity sources that an authorizer may receive. */
export const identity = fc.oneof(
  fc.array(anyText, { maxLength: 2 }),
  anyText.map((text) => [`Bearer ${text}`]),
  fc
    .tuple(fc.constantFrom("lck_", "LCK_", "lck__", ""), fc.stringMatching(/^[0-9A-Za-z_]{0,80}$/))
    .map(([prefix, rest]) => [`Bearer ${prefix}${rest}`]),
  fc.constantFrom(undefined, null, ["Bearer ".repeat(1000)], [`Bearer${" ".repeat(5000)}x y`]),
);
