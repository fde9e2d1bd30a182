import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { expect, test } from "vitest";
import { openApiDocument } from "../../../lib/openapi/document.ts";
import { routes } from "../../../shared/routes.ts";

const file = join(import.meta.dirname, "../../../docs/openapi.json");
const source = await readFile(file, "utf8");

test("docs/openapi.json is what `npm run openapi` writes", () => {
  expect(JSON.parse(source)).toEqual(JSON.parse(JSON.stringify(openApiDocument())));
});

test("it has the routes of the API and no other", () => {
  const { paths } = JSON.parse(source) as { paths: Record<string, object> };
  const documented = Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(documented.sort()).toEqual(
    Object.values(routes)
      .map(({ method, path }) => `${method} ${path}`)
      .sort(),
  );
});

const lint = async (text: string) => {
  const config = await createConfig({ extends: ["recommended-strict"], rules: { "info-license": "off" } });
  const problems = await lintFromString({ source: text, absoluteRef: file, config });
  return problems.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer}: ${message}`);
};

test("it lints clean, its examples included", async () => {
  expect(await lint(source)).toEqual([]);
});

test.each([
  [
    "a schema that is not there",
    "#/components/schemas/Lead",
    "#/components/schemas/Leed",
    "no-unresolved-refs",
  ],
  ["an example that its schema refuses", '"score": 0', '"score": "0"', "no-invalid-media-type-examples"],
])("the linter finds %s", async (_, good, bad, rule) => {
  const found = await lint(source.replaceAll(good, bad));
  expect(found.filter((line) => line.startsWith(rule))).not.toEqual([]);
});
