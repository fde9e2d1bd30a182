import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { expect, test } from "vitest";

interface Property {
  readonly type?: string | readonly string[];
  readonly $ref?: string;
  readonly description?: string;
  readonly examples?: readonly unknown[];
  readonly additionalProperties?: { readonly type?: unknown; readonly items?: { readonly type?: unknown } };
}

interface Schema {
  readonly properties?: Readonly<Record<string, Property>>;
  readonly additionalProperties?: boolean;
}

const file = join(import.meta.dirname, "../../../docs/openapi.json");
const source = await readFile(file, "utf8");
const { components } = JSON.parse(source);
const schemas = Object.entries<Schema>(components.schemas);
const properties = schemas.flatMap(([name, schema]) =>
  Object.entries(schema.properties ?? {}).map(([field, property]) => ({
    place: `${name}.${field}`,
    property,
  })),
);

test("the document is in ASCII", () => {
  expect(source).toMatch(/^[ -~\n]+$/);
});

test("the document passes the linter, including its examples", async () => {
  const config = await createConfig({ extends: ["recommended-strict"] });
  const problems = await lintFromString({ source, absoluteRef: file, config });
  expect(
    problems.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer}: ${message}`),
  ).toEqual([]);
});

test("each property has a type, a description and an example, or is another schema", () => {
  const incomplete = properties.filter(
    ({ property: { $ref, type, description, examples } }) =>
      $ref === undefined && !(type && description && examples?.length === 1),
  );
  expect(incomplete).toEqual([]);
  expect(properties.length).toBeGreaterThan(100);
});

test("every schema has a name, except maps of texts or of lists of texts, so that no generator has to invent a name", () => {
  expect(source.match(/"(?:allOf|anyOf|oneOf)"/g)).toEqual(['"oneOf"']);
  const messageBodies = ["NewMessage", "MessageUpdate", "ConversationUpdate"];
  expect(components.schemas.MessageBody.oneOf).toEqual(
    messageBodies.map((name) => ({ $ref: `#/components/schemas/${name}` })),
  );
  const unnamed = properties.filter(({ property }) => String(property.type).includes("object"));
  expect(unnamed.length).toBeGreaterThan(3);
  for (const { property } of unnamed) {
    expect(property).not.toHaveProperty("properties");
    const { type, items = { type } } = property.additionalProperties ?? {};
    expect(["string", "string,null"]).toContain(String(items.type));
  }
});

const bodies = ["NewLead", "NewTemplate", "NewMessage", "MessageUpdate", "ConversationUpdate"];

test("bodies of requests are closed; responses and events are open to new fields", () => {
  const closed = schemas.filter(([, schema]) => schema.additionalProperties === false);
  expect(closed.map(([name]) => name)).toEqual(bodies);
  expect(source.match(/"additionalProperties": (?!\{)/g)).toHaveLength(closed.length);
});

test("what clients receive has no limits that a later version may raise, and no closed list of faults", () => {
  const received = schemas.filter(([name]) => !bodies.includes(name));
  expect(JSON.stringify(received)).not.toMatch(/"(?:max\w+|minLength|minItems|propertyNames)":/);
  for (const name of ["in", "code"])
    expect(components.schemas.Fault.properties[name]).not.toHaveProperty("enum");
});
