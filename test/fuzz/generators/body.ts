import fc from "fast-check";
import { any, invalid, mostly, type Part, valid } from "./part.ts";
import { anyText, badLine, email, foreignName, label, line, lines } from "./text.ts";

/** A body before it is encoded; `~own0~` and `~other0~` are placeholders for ids of leads. */
export interface Body {
  readonly text: string;
  readonly encoding: "utf8" | "utf16le" | "latin1";
}

/** A member of an object, its key and value as JSON. */
type Member = readonly [key: string, value: string];

/** A string as JSON, with each character escaped or only those that must be. */
const inJson = (text: string, escaped: boolean) =>
  escaped
    ? `"${text.replace(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)}"`
    : JSON.stringify(text);

const quoted = (text: fc.Arbitrary<string>) =>
  fc.tuple(text, fc.boolean()).map(([text, escaped]) => inJson(text, escaped));

const member = (name: string, value: fc.Arbitrary<string>): fc.Arbitrary<Member> =>
  fc.tuple(fc.boolean(), value).map(([escaped, json]) => [inJson(name, escaped), json]);

const lists = (item: fc.Arbitrary<string>) =>
  fc.array(item, { maxLength: 4 }).map((items) => `[${items.join(", ")}]`);

const fields = {
  "create-lead": {
    required: [member("name", quoted(line(200)))],
    optional: [
      member("email", quoted(email)),
      member("source", quoted(label)),
      member("tags", lists(quoted(label))),
    ],
  },
  "send-message": {
    required: [
      member(
        "leadId",
        fc.nat(9).map((n) => `"~own${n}~"`),
      ),
      member("channel", quoted(label)),
      member("message", quoted(lines)),
    ],
    optional: [],
  },
};

type RouteWithBody = keyof typeof fields;

/** Every required field and some optional ones, in any order. */
function members(route: RouteWithBody): fc.Arbitrary<Member[]> {
  const { required, optional } = fields[route];
  return fc
    .tuple(fc.tuple(...required), fc.tuple(...optional.map((field) => fc.option(field))))
    .map(([has, may]) => [...has, ...may.filter((field) => field !== null)])
    .chain((all) => fc.shuffledSubarray(all, { minLength: all.length }));
}

const nested = (depth: number) => `${'{"a":['.repeat(depth)}1${"]}".repeat(depth)}`;

/** Values that are invalid in every field. */
const badValue = fc.oneof(
  fc.constantFrom(
    "null",
    "true",
    "5",
    "-0",
    "1e400",
    "9".repeat(400),
    "{}",
    '{"$ne":1}',
    '{"length":1}',
    "[[]]",
  ),
  fc.constantFrom('{"a":1,"a":2}', '[{"__proto__":{"x":1}}]', nested(50), nested(3000)),
  quoted(badLine(4096)),
);

const otherLead = fc.oneof(
  fc.nat(9).map((n) => `"~other${n}~"`),
  fc.constantFrom('"lead_00000000000000000000000000"', '"\\ud800"', '"#"', '"LEAD#~own0~"', '"~own0~ "'),
);

const badMember = (route: RouteWithBody): fc.Arbitrary<Member> =>
  fc.oneof(
    fc.constantFrom(...fieldNames(route)).chain((name) => member(name, badValue)),
    foreignName.chain((name) => member(name, fc.oneof(badValue, quoted(anyText)))),
  );

const fieldNames = (route: RouteWithBody) =>
  route === "create-lead" ? ["name", "email", "source", "tags"] : ["leadId", "channel", "message"];

const memberName = ([key]: Member): string => JSON.parse(key);

const object = (members: readonly Member[]) =>
  `{${members.map(([key, value]) => `${key}: ${value}`).join(" ,\r\n")}}`;

/** Breaks the text of an object in some way. */
const broken = (text: string) =>
  fc.oneof(
    fc.nat(text.length - 1).map((end) => text.slice(0, end)),
    fc.constantFrom(
      `\ufeff${text}`,
      `${text}\0`,
      `${text}${text}`,
      `${text},`,
      `[${text}]`,
      JSON.stringify(text),
      text.replace(/}$/, ",}"),
      text.replaceAll('"', "'"),
      `/**/${text}`,
      text.replace(":", ":\u00a0"),
      text.replace("{", `{"x":NaN,`),
    ),
  );

const strange = fc.oneof(
  fc.constantFrom("", " ", "null", "[]", "{}", "1e400", "9".repeat(400), '"name"', "\0", "NaN", "undefined"),
  fc.constantFrom(nested(20_000), "[".repeat(5000), `{"name":"${"x".repeat(300_000)}"}`),
  anyText,
  fc.json(),
);

const utf8 = (text: string): Body => ({ text, encoding: "utf8" });

/** A body for the route. */
export function routeBody(route: RouteWithBody): fc.Arbitrary<Part<Body>> {
  const good = members(route);
  const replaced = fc
    .tuple(good, badMember(route))
    .map(([all, bad]) => [...all.filter((one) => memberName(one) !== memberName(bad)), bad]);
  const toOtherLead = fc
    .tuple(good, member("leadId", otherLead))
    .map(([all, lead]) => all.map((one) => (memberName(one) === "leadId" ? lead : one)));
  const without = fc.tuple(good, fc.nat(2)).map(([all, n]) => {
    const { required } = fields[route];
    const missing = fieldNames(route)[n % required.length];
    return all.filter((one) => memberName(one) !== missing);
  });
  const twice = fc
    .tuple(good, good, fc.nat())
    .map(([all, others, n]) => [...all, ...others.slice(n % others.length, (n % others.length) + 1)])
    .filter((all) => new Set(all.map(memberName)).size < all.length);
  const text = good.map(object);
  return mostly(
    valid(text.map(utf8)),
    invalid(replaced.map(object).map(utf8)),
    ...(route === "send-message" ? [invalid(toOtherLead.map(object).map(utf8))] : []),
    invalid(without.map(object).map(utf8)),
    invalid(twice.map(object).map(utf8)),
    invalid(text.chain(broken).map(utf8)),
    invalid(text.map((text): Body => ({ text, encoding: "utf16le" }))),
    any(text.map((text): Body => ({ text, encoding: "latin1" }))),
    any(strange.map(utf8)),
  );
}
