import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { maxBodyBytes, maxValues } from "../../shared/http/json-scan.ts";
import { routes } from "../../shared/routes.ts";
import { call } from "../support/call.ts";

/** What the schemas of bodies use of JSON Schema. */
interface Schema {
  readonly type: string;
  readonly maxLength?: number;
  readonly format?: string;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** The longest JSON text of a string: an escape for each UTF-16 unit. */
const escaped = (text: string) =>
  `"${Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`).join("")}"`;

const longestEmail = `${"a".repeat(64)}@${"b.".repeat(93)}com`;

/** The longest JSON text, without white space, of a value that a schema accepts. */
function longestJson({ type, maxLength = 0, format, maxItems, items, properties }: Schema): string {
  if (properties)
    return `{${Object.entries(properties)
      .map(([name, schema]) => `${escaped(name)}:${longestJson(schema)}`)
      .join()}}`;
  if (items) return `[${Array(maxItems).fill(longestJson(items)).join()}]`;
  expect(type).toBe("string");
  // Lengths count code points, and one outside the Basic Multilingual Plane takes two escapes.
  return escaped(format === "email" ? longestEmail : "\u{1F600}".repeat(maxLength));
}

test.each([
  { name: "create-lead", bytes: 43_380, status: 201 },
  // Nobody has the lead.
  { name: "send-message", bytes: 50_827, status: 404 },
] as const)("the longest body of $name has $bytes bytes and is accepted", async ({ name, bytes, status }) => {
  const body = longestJson(routes[name].body);
  expect(Buffer.byteLength(body)).toBe(bytes);
  expect(bytes).toBeLessThan(maxBodyBytes);
  expect((await call(name, { body })).status).toBe(status);
  expect(await readFile("docs/errors.md", "utf8")).toContain(bytes.toLocaleString("en"));
});

test("the most values of a body are far fewer than the limit", () => {
  expect(longestJson(routes["create-lead"].body).match(/[[{,]/g)).toHaveLength(54);
  expect(maxValues).toBeGreaterThan(10 * 54);
});
