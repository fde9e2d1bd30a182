import fc from "fast-check";
import type { RouteName } from "../../../shared/routes.ts";
import { any, invalid, mostly, type Part, valid } from "./part.ts";
import { anyText, badLine, email, foreignName, label } from "./text.ts";

/** Percent-encoded, with spaces as `+`, or with every byte encoded. */
const encoded = (text: fc.Arbitrary<string>) =>
  fc.tuple(text, fc.constantFrom("plain", "plus", "every byte")).map(([text, way]) => {
    if (way === "every byte") return Buffer.from(text).toString("hex").replace(/../g, "%$&");
    const plain = encodeURIComponent(text.toWellFormed());
    return way === "plus" ? plain.replaceAll("%20", "+") : plain;
  });

const number = (max: number) => fc.integer({ min: 1, max }).map(String);

/** An RFC 3339 timestamp of a year, with any precision and offset. */
const timestamp = (year: number) =>
  fc
    .tuple(
      fc.nat(365 * 86_400),
      fc.constantFrom("", ".0", ".123", ".123456789", `.${"9".repeat(60)}`),
      fc.constantFrom("Z", "z", "-00:00", "%2B23:59", "-12:30"),
    )
    .map(([second, digits, offset]) => {
      const time = new Date(Date.UTC(year, 0, 1) + second * 1000).toISOString();
      return `${time.slice(0, 19)}${digits}${offset}`;
    });

/** The first is never later than the second. */
const [early, late] = [timestamp(2020), timestamp(2040)];

/** The id of a lead of the caller or of another account, or of none. */
const leadId = fc.oneof(fc.constantFrom("~own0~", "~own1~", "~other0~"), encoded(label));

const common = {
  page: fc.oneof(number(3), number(999_999_999)),
  limit: number(100),
  createdAfter: early,
  createdBefore: late,
};

const parameters: Record<"list-leads" | "list-conversations", Record<string, fc.Arbitrary<string>>> = {
  "list-leads": {
    ...common,
    id: leadId,
    email: encoded(email),
    status: fc.constantFrom("new", "qualified", "booked"),
    source: encoded(label),
  },
  "list-conversations": {
    ...common,
    id: encoded(label),
    leadId,
    channel: encoded(label),
    status: fc.oneof(fc.constant("active"), encoded(label)),
  },
};

/** Some of the route's parameters, each once. */
const some = (route: keyof typeof parameters): fc.Arbitrary<string[]> =>
  fc
    .tuple(
      ...Object.entries(parameters[route]).map(([name, value]) =>
        fc.option(
          value.map((value) => `${name}=${value}`),
          { freq: 1 },
        ),
      ),
    )
    .map((all) => all.filter((parameter) => parameter !== null));

const badNumber = fc.constantFrom(
  ..."0 -1 1e1 20.0 0x10 +5 01 1,2 101x NaN 1000000000 %D9%A3 %00".split(" "),
  ...["", "9".repeat(4000)],
);

const badTime = fc.oneof(
  fc.constantFrom("", "now", "2026-02-30T00:00:00Z", "2026-01-31", "2026-01-31T00:00:00+01:00"),
  early.map((text) => `${text}${text}`),
);

/** Values that are invalid for every parameter but ids. */
const badText = fc.oneof(
  fc.constantFrom(..."% %zz %ff %c0%af %ed%a0%80 %00 a%0d%0ab %f4%90%80%80".split(" ")),
  encoded(badLine(64).filter((text) => text.isWellFormed())),
);

const parameter = (name: fc.Arbitrary<string>, value: fc.Arbitrary<string>) =>
  fc.tuple(name, value).map(([name, value]) => [`${name}=${value}`]);

const bad = (route: keyof typeof parameters): fc.Arbitrary<string[]> => {
  const names = fc.constantFrom(...Object.keys(parameters[route]));
  const foreign = foreignName.map((name) => encodeURIComponent(name.toWellFormed()));
  return fc.oneof(
    parameter(fc.constantFrom("page", "limit"), badNumber),
    parameter(
      names.filter((name) => name !== "leadId" && name !== "id"),
      badText,
    ),
    parameter(fc.constantFrom("createdAfter", "createdBefore"), badTime),
    fc.tuple(late, early).map(([late, early]) => [`createdAfter=${late}`, `createdBefore=${early}`]),
    names.map((name) => [`${name}=1`, `%${name.charCodeAt(0).toString(16)}${name.slice(1)}=1`]),
    parameter(fc.constant("id"), fc.constant(route === "list-leads" ? "conv_1" : "~own0~")),
    parameter(foreign, encoded(anyText)),
  );
};

const parameterName = (parameter: string) => parameter.split("=")[0] ?? "";

/** A query for the route, without the question mark. */
export function routeQuery(route: RouteName): fc.Arbitrary<Part<string>> {
  if (route === "create-lead" || route === "send-message") {
    const list = route === "create-lead" ? "list-leads" : "list-conversations";
    const nothing = fc.constantFrom("", "&", "&&&");
    return mostly(valid(nothing), invalid(bad(list).map((all) => all.join("&"))), any(anyText));
  }
  const mixed = fc.tuple(some(route), bad(route)).map(([good, bad]) => {
    const names = new Set(bad.map(parameterName));
    return [...good.filter((one) => !names.has(parameterName(one))), ...bad].join("&");
  });
  const good = fc.tuple(some(route), fc.constantFrom("&", "&&")).map(([all, between]) => all.join(between));
  return mostly(valid(good), invalid(mixed), any(anyText));
}
