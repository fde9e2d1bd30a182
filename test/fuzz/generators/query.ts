import fc from "fast-check";
import type { RouteName } from "../../../shared/routes.ts";
import { any, invalid, mostly, type Part, valid } from "./part.ts";
import { anyText, badLine, email, foreignName, label } from "./text.ts";

/** A parameter as sent, `name=value`. */
type Parameter = string;

/** Percent-encoded, with spaces as `+`, or with every byte encoded. */
const encoded = (text: fc.Arbitrary<string>) =>
  fc.tuple(text, fc.constantFrom("plain", "plus", "every byte")).map(([text, way]) => {
    if (way === "every byte") return Buffer.from(text).toString("hex").replace(/../g, "%$&");
    const plain = encodeURIComponent(text.toWellFormed());
    return way === "plus" ? plain.replaceAll("%20", "+") : plain;
  });

const number = (max: number) => fc.integer({ min: 1, max }).map(String);
const paging = { page: fc.oneof(number(3), number(999_999_999)), limit: number(100) };

/** An RFC 3339 timestamp of a year, with any precision and offset. */
const timestamp = (year: number) =>
  fc
    .record({
      day: fc.date({
        min: new Date(Date.UTC(year, 0, 1)),
        max: new Date(Date.UTC(year, 11, 31)),
        noInvalidDate: true,
      }),
      digits: fc.constantFrom("", ".0", ".123", ".123456789", `.${"9".repeat(60)}`),
      offset: fc.constantFrom("Z", "z", "-00:00", "%2B23:59", "-12:30"),
    })
    .map(({ day, digits, offset }) => `${day.toISOString().slice(0, 19)}${digits}${offset}`);

/** The first is never later than the second. */
const times = {
  createdAfter: fc.oneof(timestamp(1970), timestamp(2020)),
  createdBefore: fc.oneof(timestamp(2040), timestamp(9998)),
};

/** The id of a lead of the caller or of another account, or of none. */
const leadId = fc.oneof(
  fc.nat(9).map((n) => `~own${n}~`),
  fc.nat(9).map((n) => `~other${n}~`),
  encoded(label),
);

const parameters: Record<"list-leads" | "list-conversations", Record<string, fc.Arbitrary<string>>> = {
  "list-leads": {
    ...paging,
    ...times,
    id: leadId,
    email: encoded(email),
    status: fc.constantFrom("new", "qualified", "booked"),
    source: encoded(label),
  },
  "list-conversations": {
    ...paging,
    ...times,
    id: encoded(label),
    leadId,
    channel: encoded(label),
    status: fc.oneof(fc.constant("active"), encoded(label)),
  },
};

/** Some of the route's parameters, each once. */
const some = (route: keyof typeof parameters): fc.Arbitrary<Parameter[]> =>
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
  ..."0 -1 1e1 20.0 0x10 +5 01 1,2 101x NaN 1000000000 99999999999999999999 %D9%A3 %00".split(" "),
  "",
  "9".repeat(4000),
);

const badTime = fc.oneof(
  fc.constantFrom("", "now", "0", "2026-02-30T00:00:00Z", "2026-01-31T23:59:60Z", "2026-01-31T24:00:00Z"),
  fc.constantFrom(
    "2026-01-31",
    "2026-01-31T00:00:00",
    "2026-01-31T00:00:00+01:00",
    "%D9%A3026-01-31T00:00:00Z",
  ),
  timestamp(2026).map((text) => `${text}${text}`),
);

/** Values that are invalid for every parameter. */
const badEscape = fc.constantFrom(
  "%",
  "%zz",
  "%ff",
  "%c0%af",
  "%ed%a0%80",
  "%00",
  "a%0d%0ab",
  "%f4%90%80%80",
);

const bad = (route: keyof typeof parameters): fc.Arbitrary<Parameter[]> => {
  const names = fc.constantFrom(...Object.keys(parameters[route]));
  return fc.oneof(
    fc.tuple(fc.constantFrom("page", "limit"), badNumber).map(([name, value]) => [`${name}=${value}`]),
    fc
      .tuple(
        names.filter((name) => name !== "leadId" && name !== "id"),
        fc.oneof(badEscape, encoded(badLine(64).filter((text) => text.isWellFormed()))),
      )
      .map(([name, value]) => [`${name}=${value}`]),
    fc
      .tuple(fc.constantFrom("createdAfter", "createdBefore"), badTime)
      .map(([name, value]) => [`${name}=${value}`]),
    fc
      .tuple(times.createdBefore, times.createdAfter)
      .map(([late, early]) => [`createdAfter=${late}`, `createdBefore=${early}`]),
    names.map((name) => [`${name}=1`, `${encodeURIComponent(name)}=1`]),
    names.map((name) => [`${name}=1`, `%${name.charCodeAt(0).toString(16)}${name.slice(1)}=1`]),
    names.map((name) => [`${name}[]=1`]),
    fc.constant(route === "list-leads" ? "id=conv_1" : "id=~own0~").map((parameter) => [parameter]),
    fc
      .tuple(
        // It is a field of neither body, but a parameter of both lists.
        foreignName.filter((name) => name !== "id"),
        encoded(anyText),
      )
      .map(([name, value]) => [`${encodeURIComponent(name.toWellFormed())}=${value}`]),
  );
};

const nothing = fc.constantFrom("", "&", "&&&");

/** Printable text without spaces, which can be sent unencoded. */
const anything = fc
  .string({ unit: "grapheme-ascii", maxLength: 40 })
  .map((text) => text.replaceAll(" ", "+"));

/** A query for the route, without the question mark. */
export function routeQuery(route: RouteName): fc.Arbitrary<Part<string>> {
  if (route === "create-lead" || route === "send-message") {
    const list = route === "create-lead" ? "list-leads" : "list-conversations";
    return mostly(valid(nothing), invalid(bad(list).map((all) => all.join("&"))), any(anything));
  }
  const mixed = fc.tuple(some(route), bad(route)).map(([good, bad]) => {
    const names = new Set(bad.map(parameterName));
    return [...good.filter((one) => !names.has(parameterName(one))), ...bad].join("&");
  });
  const separator = fc.constantFrom("&", "&", "&&");
  const good = fc.tuple(some(route), separator).map(([all, between]) => all.join(between));
  return mostly(valid(good), invalid(mixed), any(anything));
}

const parameterName = (parameter: Parameter) => parameter.split("=")[0] ?? "";
