import fc from "fast-check";
import { any, invalid, mostly, type Part, valid } from "./part.ts";
import { anyText, badLine, email, foreignName, label, line, lines } from "./text.ts";

/** A body before it is sent; `~own0~`, `~other0~` stand for the ids of leads. */
export interface Body {
  readonly text: string;
  readonly encoding: "utf8" | "utf16le" | "latin1";
}

/** A member of an object, both sides as JSON. */
type Member = readonly [key: string, value: string];

/** The same string in JSON, each character escaped or only those that must be. */
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

/** Every required field and some others, in any order. */
function members(route: RouteWithBody): fc.Arbitrary<Member[]> {
  const { required, optional } = fields[route];
  return fc
    .tuple(fc.tuple(...required), fc.tuple(...optional.map((field) => fc.option(field))))
    .map(([has, may]) => [...has, ...may.filter((field) => field !== null)])
    .chain((all) => fc.shuffledSubarray(all, { minLength: all.length }));
}

const nested = (depth: number) => `${'{"a":['.repeat(depth)}1${"]}".repeat(depth)}`;

/** No field takes any of these. */
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
    fc.constantFrom(...namesOf(route)).chain((name) => member(name, badValue)),
    foreignName.chain((name) => member(name, fc.oneof(badValue, quoted(anyText)))),
  );

const namesOf = (route: RouteWithBody) =>
  route === "create-lead" ? ["name", "email", "source", "tags"] : ["leadId", "channel", "message"];

const nameOf = ([key]: Member): string => JSON.parse(key);

const object = (members: readonly Member[]) =>
  `{${members.map(([key, value]) => `${key}: ${value}`).join(" ,\r\n")}}`;

/** The object, and its text broken in some way. */
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

/** A body of the route. */
export function bodyOf(route: RouteWithBody): fc.Arbitrary<Part<Body>> {
  const good = members(route);
  const replaced = fc
    .tuple(good, badMember(route))
    .map(([all, bad]) => [...all.filter((one) => nameOf(one) !== nameOf(bad)), bad]);
  const toOthers = fc
    .tuple(good, member("leadId", otherLead))
    .map(([all, lead]) => all.map((one) => (nameOf(one) === "leadId" ? lead : one)));
  const without = fc.tuple(good, fc.nat(2)).map(([all, n]) => {
    const { required } = fields[route];
    const missing = namesOf(route)[n % required.length];
    return all.filter((one) => nameOf(one) !== missing);
  });
  const twice = fc
    .tuple(good, good, fc.nat())
    .map(([all, others, n]) => [...all, ...others.slice(n % others.length, (n % others.length) + 1)])
    .filter((all) => new Set(all.map(nameOf)).size < all.length);
  const text = good.map(object);
  return mostly(
    valid(text.map(utf8)),
    invalid(replaced.map(object).map(utf8)),
    ...(route === "send-message" ? [invalid(toOthers.map(object).map(utf8))] : []),
    invalid(without.map(object).map(utf8)),
    invalid(twice.map(object).map(utf8)),
    invalid(text.chain(broken).map(utf8)),
    invalid(text.map((text): Body => ({ text, encoding: "utf16le" }))),
    any(text.map((text): Body => ({ text, encoding: "latin1" }))),
    any(strange.map(utf8)),
  );
}
