import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { postmanCollection } from "../../../lib/openapi/collection.ts";
import { openApiDocument } from "../../../lib/openapi/document.ts";

const file = join(import.meta.dirname, "../../../docs/postman-collection.json");
const { item: requests, variable: variables } = postmanCollection();

test("docs/postman-collection.json is what `npm run openapi` writes", async () => {
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual(JSON.parse(JSON.stringify(postmanCollection())));
});

test("it has each operation of the document, a lead before the message to it", () => {
  const operations = Object.values(openApiDocument().paths).flatMap((item) => Object.values(item));
  const names = requests.map(({ name }) => name);
  expect([...names].sort()).toEqual(operations.map(({ summary }) => summary).sort());
  expect(names.indexOf("Create a lead")).toBeLessThan(names.indexOf("Send a message"));
});

test("it uses the variables that it has, and no other", () => {
  const used = Array.from(JSON.stringify(postmanCollection()).matchAll(/\{\{(\w+)\}\}/g), ([, name]) => name);
  expect([...new Set(used)].sort()).toEqual(variables.map(({ key }) => key).sort());
});
