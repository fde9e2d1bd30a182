import fc from "fast-check";
import { any, invalid, mostly, type Part, valid } from "./part.ts";
import { anyText, badLine, email, foreignName, label, line } from "./text.ts";

/** A body before it is encoded; `~own0~` and `~other0~` are placeholders for ids of leads. */
export interface Body {
  readonly text: string;
  readonly encoding: "utf8" | "utf16le" | "latin1";
}

/** A member of an object, its key and value as JSON. */
type Member = readonly [key: string, value: string];

/** A string as JSON, with each character escaped or only those that must be. */
const quoted = (text: fc.Arbitrary<string>) =>
  fc
    .tuple(text, fc.boolean())
    .map(([text, escaped]) =>
      escaped
        ? `"${text.replace(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)}"`
        : JSON.stringify(text),
    );

const member = (name: string, value: fc.Arbitrary<string>): fc.Arbitrary<Member> =>
  fc.tuple(quoted(fc.constant(name)), value);

const tags = fc.array(quoted(label), { maxLength: 4 }).map((items) => `[${items.join(", ")}]`);
const text = fc.oneof(line(4096), fc.constantFrom("a\r\nb", "a\n\tb"));

const leadOf = (account: "own" | "other") => fc.nat(9).map((n) => `"~${account}${n}~"`);

const fields = {
  "create-lead": {
    required: { name: quoted(line(200)) },
    optional: { email: quoted(email), source: quoted(label), tags },
  },
  "send-message": {
    required: { leadId: leadOf("own"), channel: quoted(label), message: quoted(text) },
    optional: {},
  },
};

type RouteWithBody = keyof typeof fields;

/** Every required field and some optional ones, in any order. */
function members(route: RouteWithBody): fc.Arbitrary<Member[]> {
  const [required, optional] = [fields[route].required, fields[route].optional].map((all) =>
    Object.entries<fc.Arbitrary<string>>(all).map(([name, value]) => member(name, value)),
  );
  return fc
    .tuple(fc.tuple(...(required ?? [])), fc.tuple(...(optional ?? []).map((field) => fc.option(field))))
    .map(([has, may]) => [...has, ...may.filter((field) => field !== null)])
    .chain((all) => fc.shuffledSubarray(all, { minLength: all.length }));
}

const nested = (depth: number) => `${'{"a":['.repeat(depth)}1${"]}".repeat(depth)}`;

/** Values that are invalid in every field. */
const badValue = fc.oneof(
  fc.constantFrom("null", "true", "5", "-0", "1e400", "9".repeat(400), "{}", '{"$ne":1}', "[[]]"),
  fc.constantFrom('{"a":1,"a":2}', '[{"__proto__":{"x":1}}]', nested(50), nested(3000)),
  quoted(badLine(4096)),
);

const memberName = ([key]: Member): string => JSON.parse(key);

const inObject = (members: readonly Member[]) =>
  `{${members.map(([key, value]) => `${key}: ${value}`).join(" ,\r\n")}}`;

/** Breaks the text of an object in some way. */
const broken = (text: string) =>
  fc.oneof(
    fc.nat(text.length - 1).map((end) => text.slice(0, end)),
    fc.constantFrom(
      ...[`\ufeff${text}`, `${text}\0`, `${text}${text}`, `${text},`, `[${text}]`, `/**/${text}`],
      ...[text.replace(/}$/, ",}"), text.replaceAll('"', "'"), text.replace("{", '{"x":NaN,')],
    ),
  );

const strange = fc.oneof(
  fc.constantFrom("", " ", "null", "[]", "{}", "1e400", '"name"', "\0", "NaN", "undefined"),
  fc.constantFrom(nested(20_000), "[".repeat(5000), `{"name":"${"x".repeat(300_000)}"}`),
  anyText,
  fc.json(),
);

const utf8 = (text: string): Body => ({ text, encoding: "utf8" });

/** A body for the route. */
export function routeBody(route: RouteWithBody): fc.Arbitrary<Part<Body>> {
  const { required, optional } = fields[route];
  const good = members(route);
  const bad = fc.oneof(
    fc.constantFrom(...Object.keys({ ...required, ...optional })).chain((name) => member(name, badValue)),
    foreignName.chain((name) => member(name, fc.oneof(badValue, quoted(anyText)))),
    ...(route === "send-message" ? [member("leadId", leadOf("other"))] : []),
  );
  const replaced = fc
    .tuple(good, bad)
    .map(([all, bad]) => [...all.filter((one) => memberName(one) !== memberName(bad)), bad]);
  const without = fc
    .tuple(good, fc.constantFrom(...Object.keys(required)))
    .map(([all, missing]) => all.filter((one) => memberName(one) !== missing));
  const twice = fc.tuple(good, good, fc.nat()).map(([all, others, n]) => {
    const known = others.filter((one) => all.some((other) => memberName(other) === memberName(one)));
    return [...all, ...known.slice(n % known.length, (n % known.length) + 1)];
  });
  const text = good.map(inObject);
  return mostly(
    valid(text.map(utf8)),
    invalid(fc.oneof(replaced, without, twice).map(inObject).map(utf8)),
    invalid(text.chain(broken).map(utf8)),
    invalid(text.map((text): Body => ({ text, encoding: "utf16le" }))),
    any(text.map((text): Body => ({ text, encoding: "latin1" }))),
    any(strange.map(utf8)),
  );
}
