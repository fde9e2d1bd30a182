import fc from "fast-check";
import type { RouteName } from "../../../shared/routes.ts";
import { any, invalid, mostly, type Part, valid } from "./part.ts";
import { anyText, badLine, foreignName, label } from "./text.ts";

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

const parameters: Record<"list-leads" | "list-conversations", Record<string, fc.Arbitrary<string>>> = {
  "list-leads": {
    ...paging,
    status: fc.constantFrom("new", "qualified", "booked"),
    source: encoded(label),
  },
  "list-conversations": {
    ...paging,
    leadId: fc.oneof(
      fc.nat(9).map((n) => `~own${n}~`),
      fc.nat(9).map((n) => `~other${n}~`),
      encoded(label),
    ),
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
        names.filter((name) => name !== "leadId"),
        fc.oneof(badEscape, encoded(badLine(64).filter((text) => text.isWellFormed()))),
      )
      .map(([name, value]) => [`${name}=${value}`]),
    names.map((name) => [`${name}=1`, `${encodeURIComponent(name)}=1`]),
    names.map((name) => [`${name}=1`, `%${name.charCodeAt(0).toString(16)}${name.slice(1)}=1`]),
    names.map((name) => [`${name}[]=1`]),
    fc
      .tuple(foreignName, encoded(anyText))
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
