import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { fullFormats } from "ajv-formats/dist/formats.js";
import { expect, test } from "vitest";
import { type Route, routes } from "../../../shared/routes.ts";
import { requestOptions } from "../../../shared/schemas/validator.ts";

const document = JSON.parse(readFileSync("docs/openapi.json", "utf8"));
const ajv = new Ajv2020({ strict: false, formats: { email: fullFormats.email, "date-time": true } });
ajv.addSchema(document, "document");

/** The values that match a pattern, in the schemas of the document and of the routes. */
const keywords = (pattern: RegExp) =>
  Array.from(JSON.stringify([document, routes]).matchAll(pattern), ([, value = ""]) => JSON.parse(value));

/** The limits of all schemas, and the values just above them. */
const sizes = new Set(
  keywords(/"(?:min|max)\w+":(\d+)/g)
    .filter((limit) => limit < 5000)
    .flatMap((limit) => [limit, limit + 1]),
);

const longEmail = (domain: number) =>
  `${"a".repeat(60)}@${["b", "c", "d"].map((letter) => letter.repeat(60)).join(".")}.${"e".repeat(domain)}.com`;

/** Values at the edges of the rules of all fields, and some of other types. */
const values = [
  ...[" ", "A b", "\n", "\u0000", "New", "ada@example.com", "ada", "@", longEmail(5), longEmail(30), "a,b"],
  ...[-1, 1.5, true, null, {}, [], [""], [1], ["a:b"], ["a:+1 2", "a: 1"]],
  ...[{ a: "b\n" }, { a: null }, { a: 1 }, { "": "a" }, { "a\n": "" }],
  ...[["+1 (2)", "a"], [], [""], ["a,b"]].map((a) => ({ a })),
  ...["a_1", "A"].flatMap((name) => [{ name }, { name, language: "en_US", parameters: ["a"] }]),
  ...keywords(/"enum":(\[[^\]]*\])/g).flat(),
  ...Array.from(sizes, (size) => [size, "a".repeat(size)] as const).flatMap(([size, text]) => [
    ...[size, text, [text], [`a:${text.slice(2)}`], { a: text }, { [text]: "" }, { a: [text] }],
    ...(size < 200
      ? [[...text], { a: [...text] }, Object.fromEntries(Object.keys([...text]).map((key) => [key, ""]))]
      : []),
  ]),
];

const numbers = [-1, 0, 1, 1.5, 20, 99, 100, 101, 1000, 999_999_999, 1_000_000_000];

interface Parameter {
  /** The idempotency key has none here, because it is a reference. */
  readonly name?: string;
  readonly schema: { readonly type: string; readonly default?: number };
}

test.each(
  Object.values<Route>(routes),
)("$name accepts exactly the documented values of all its parameters", ({ path, method, query }) => {
  const { properties = {} } = query as { properties?: Record<string, object> };
  const verb = method.toLowerCase();
  const parameters: readonly Parameter[] = document.paths[path][verb].parameters;
  const place = `document#/paths/${path.replaceAll("/", "~1")}/${verb}/parameters`;
  for (const [at, { name, schema }] of parameters.entries()) {
    if (name === undefined) continue;
    const validate = new Ajv2020(requestOptions).compile(properties[name] ?? {});
    const documented = ajv.compile({ $ref: `${place}/${at}/schema` });
    // Pages are documented as numbers, but arrive as text like every parameter of a query.
    const different =
      schema.type === "integer"
        ? numbers.filter((number) => validate(String(number)) !== documented(number))
        : values.filter((value) => validate(value) !== documented(value));
    expect([name, different]).toEqual([name, []]);
  }
  const named = parameters.filter(({ name }) => name !== undefined);
  expect(named.map(({ name }) => name)).toEqual(Object.keys(properties));
  const defaults = named.slice(0, 2).map(({ schema }) => schema.default);
  if (method === "GET") expect(defaults).toEqual([1, 20]);
});

type Body = Readonly<Record<string, unknown>>;

const hasNull = (body: Body) => JSON.stringify(body).includes(":null");

const updates = routes["send-message"].otherBodies.schemas;

/** The bodies, with the rules that only the descriptions state. */
const bodies = [
  [
    "without ifExists",
    "NewLead",
    routes["create-lead"].body,
    (body: Body) =>
      "name" in body && !["id", "status", "score"].some((field) => field in body) && !hasNull(body),
  ],
  ["with ifExists", "NewLead", routes["create-lead"].otherBodies.schemas.update, () => true],
  ["of a message", "NewMessage", routes["send-message"].body, () => true],
  ["with update=message", "MessageUpdate", updates.message, () => true],
  ["with update=conversation", "ConversationUpdate", updates.conversation, () => true],
] as const;

test.each(
  bodies,
)("a body %s accepts exactly the documented values of each field", (_, name, body, isDescribed) => {
  const valid: { properties: Record<string, { examples?: unknown[] }> } = document.components.schemas[name];
  const examples = Object.entries(valid.properties).map(([field, { examples }]) => [field, examples?.[0]]);
  const example = Object.fromEntries(examples.filter(([field]) => String(field) in body.properties));
  const validate = new Ajv2020(requestOptions).compile(body);
  const documented = ajv.compile({ $ref: `document#/components/schemas/${name}` });
  expect([validate(example), documented(example)]).toEqual([true, true]);
  const changed = [...Object.keys(valid.properties), "other"].flatMap((field) =>
    [undefined, ...values].map((value) => {
      const { [field]: _, ...rest } = example;
      return value === undefined ? rest : { ...rest, [field]: value };
    }),
  );
  const different = changed.filter((value) => validate(value) !== (isDescribed(value) && documented(value)));
  expect(different).toEqual([]);
  expect(changed.filter((value) => validate(value)).length).toBeGreaterThan(10);
});

test("each value of a parameter that chooses a body has a schema of this body", () => {
  for (const { query, otherBodies } of Object.values<Route>(routes))
    if (otherBodies)
      expect(Object.keys(otherBodies.schemas)).toEqual(Object(query).properties[otherBodies.parameter].enum);
  expect.assertions(2);
});
