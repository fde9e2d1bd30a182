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

const find = (name: string) => {
  const found = requests.find((request) => request.name === name);
  if (!found) throw new Error(`The collection has no request ${name}.`);
  return { ...found, script: found.event.flatMap(({ script }) => script.exec).join("\n") };
};

test.each([
  ["Create a lead", 201],
  ["List leads", 200],
  ["Send a message", 201],
  ["List conversations", 200],
])("%s expects the status %i", (name, status) => {
  expect(find(name).script).toContain(`pm.response.to.have.status(${status})`);
});

test("the message is sent to the lead that was created", () => {
  expect(find("Create a lead").script).toContain(
    'pm.collectionVariables.set("leadId", pm.response.json().id);',
  );
  expect(JSON.parse(find("Send a message").request.body?.raw ?? "")).toMatchObject({ leadId: "{{leadId}}" });
});

test("each write has a new idempotency key, and no list is filtered", () => {
  for (const { request } of requests) {
    const isWrite = request.method === "POST";
    expect(request.header).toEqual(isWrite ? [{ key: "Idempotency-Key", value: "{{$guid}}" }] : []);
    expect(request.url.raw).toMatch(/^\{\{baseUrl\}\}\/api\/v1\/[a-z]+$/);
    expect((request.url.query ?? []).filter(({ disabled }) => !disabled)).toEqual([]);
  }
});

test("each request has the API key of the variable, which is empty in the file", () => {
  const { auth, variable } = postmanCollection();
  expect(auth).toEqual({ type: "bearer", bearer: [{ key: "token", value: "{{apiKey}}", type: "string" }] });
  expect(Object.fromEntries(variable.map(({ key, value }) => [key, value]))).toEqual({
    baseUrl: "http://127.0.0.1:3000",
    apiKey: "",
    leadId: "",
  });
});
