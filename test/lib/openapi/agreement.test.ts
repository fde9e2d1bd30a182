import { readFileSync } from "node:fs";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { fullFormats } from "ajv-formats/dist/formats.js";
import { expect, test } from "vitest";
import type { openApiDocument } from "../../../lib/openapi/document.ts";
import { type Route, routes } from "../../../shared/routes.ts";
import { requestOptions } from "../../../shared/schemas/validator.ts";

const document: ReturnType<typeof openApiDocument> = JSON.parse(readFileSync("docs/openapi.json", "utf8"));
const ajv = new Ajv2020({ strict: false, formats: { email: fullFormats.email, "date-time": true } });
ajv.addSchema(document, "document");

/** Values at the edges of the rules of all fields, and some of other types. */
const values = [
  ...["", " ", "a", "A b", "\n", "\u0000", "new", "New", "qualified", "lost", "active", "instagram"],
  ...["a".repeat(64), "a".repeat(65), "a".repeat(200), "a".repeat(201), "a".repeat(4096), "a".repeat(4097)],
  ...[
    "ada@example.com",
    "ada",
    "@",
    `a@${"b".repeat(60)}.${"c".repeat(60)}.${"d".repeat(60)}.${"e".repeat(60)}.com`,
  ],
  ...[`${"a".repeat(60)}@${"b".repeat(60)}.${"c".repeat(60)}.${"d".repeat(60)}.${"e".repeat(30)}.com`],
  ...[
    5,
    0,
    -1,
    1.5,
    true,
    null,
    {},
    [],
    ["vip"],
    [""],
    ["a".repeat(65)],
    Array(50).fill("a"),
    Array(51).fill("a"),
    [1],
  ],
  ...["true", "message", "conversation", "inbound", "failed", "a".repeat(500), "a".repeat(501)],
  ...["a".repeat(512), "a".repeat(513)],
  ...["a,b", "a".repeat(160), "a".repeat(161), 100, 101, { a: "b\n" }, { a: null }, { a: 1 }, { "": "a" }],
  ...[
    { "a\n": "" },
    { ["a".repeat(40)]: "a".repeat(1024) },
    { ["a".repeat(41)]: "" },
    { a: "a".repeat(1025) },
  ],
  ...[["a"], ["+1 (2)", "a"], [], [""], ["a".repeat(161)], ["a,b"], Array(11).fill("a")].map((a) => ({ a })),
  ...[["a:b"], ["a"], ["a:+1 2", "a: 1"], [`a:${"b".repeat(224)}`], [`a:${"b".repeat(225)}`]],
  ...["a_1", "A"].flatMap((name) => [{ name }, { name, language: "en_US", parameters: ["a"] }]),
  ...[10, 11].map((count) => Object.fromEntries(Array.from({ length: count }, (_, n) => [n, ""]))),
];

const numbers = [-1, 0, 1, 1.5, 20, 99, 100, 101, 1000, 999_999_999, 1_000_000_000];

/** Those of the values that one validator accepts and the other does not. */
const differences = (validate: (value: unknown) => boolean, other: ValidateFunction) =>
  values.filter((value) => validate(value) !== other(value));

test.each(
  Object.values<Route>(routes),
)("$name accepts the values of each parameter that the document says", ({ path, method, kind, query }) => {
  const { properties = {} } = query as { properties?: Record<string, object> };
  const verb = method.toLowerCase();
  const documentedOnes = document.paths[path]?.[verb]?.parameters ?? [];
  const parameters = documentedOnes.filter((parameter) => "in" in parameter);
  expect(parameters.map((parameter) => Reflect.get(parameter, "name"))).toEqual(Object.keys(properties));
  for (const [at, [name, schema]] of Object.entries(properties).entries()) {
    const validate = new Ajv2020(requestOptions).compile(schema);
    const place = documentedOnes.findIndex((each) => Reflect.get(each, "name") === name);
    const documented = ajv.getSchema(
      `document#/paths/${path.replaceAll("/", "~1")}/${verb}/parameters/${place}/schema`,
    );
    if (!documented) throw new Error(`The document has no parameter ${name}.`);
    // Pages are documented as numbers, and come as text like all of a query.
    const different =
      Reflect.get(parameters[at] ?? {}, "schema").type === "integer"
        ? numbers.filter((number) => validate(String(number)) !== documented(number))
        : differences(validate, documented);
    expect([name, different]).toEqual([name, []]);
  }
  const defaults = parameters.slice(0, 2).map((one) => Object(Reflect.get(one, "schema")).default);
  if (kind === "list") expect(defaults).toEqual([1, 20]);
});

type Body = Readonly<Record<string, unknown>>;

const hasNull = (body: Body) => JSON.stringify(body).includes(":null");

const updates = routes["send-message"].otherBodies.schemas;

/** The bodies, and what only the descriptions say of them. */
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
)("a body %s has in each field the values that the document says", (_, name, body, isDescribed) => {
  const valid = document.components.schemas[name] as { properties: Record<string, { examples?: unknown[] }> };
  const examples = Object.entries(valid.properties).map(([field, { examples }]) => [field, examples?.[0]]);
  const example = Object.fromEntries(examples.filter(([field]) => String(field) in body.properties));
  const validate = new Ajv2020(requestOptions).compile(body);
  const documented = ajv.getSchema(`document#/components/schemas/${name}`);
  expect([validate(example), documented?.(example)]).toEqual([true, true]);
  const changed = [...Object.keys(valid.properties), "other"].flatMap((field) =>
    [undefined, ...values].map((value) => {
      const { [field]: _, ...rest } = example;
      return value === undefined ? rest : { ...rest, [field]: value };
    }),
  );
  const different = changed.filter(
    (value) => validate(value) !== Boolean(documented?.(value) && isDescribed(value)),
  );
  expect(different).toEqual([]);
  expect(changed.filter((value) => validate(value)).length).toBeGreaterThan(10);
});

test("each value of a parameter that chooses a body has its body", () => {
  const choosing = Object.values<Route>(routes).flatMap(({ query, otherBodies }) =>
    otherBodies ? [{ query: Object(query), otherBodies }] : [],
  );
  expect(choosing.length).toBeGreaterThan(0);
  for (const { query, otherBodies } of choosing)
    expect(Object.keys(otherBodies.schemas)).toEqual(query.properties[otherBodies.parameter].enum);
});
