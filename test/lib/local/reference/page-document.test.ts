import { expect, test } from "vitest";
import { toPageDocument } from "../../../../lib/local/reference/reference.ts";
import { openApiDocument } from "../../../../lib/openapi/document.ts";

interface Parameter {
  readonly name?: string;
  readonly $ref?: string;
  readonly schema: object;
  readonly examples?: Readonly<Record<string, object>>;
}

const document = openApiDocument() as unknown as Parameters<typeof toPageDocument>[0];
const page = toPageDocument(document) as {
  readonly servers: readonly object[];
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly parameters: readonly Parameter[] }>>>
  >;
  readonly components: { readonly parameters: Readonly<Record<string, Parameter>> };
};

test("requests go to the host of the page", () => {
  expect(page.servers).toEqual([{ url: "/" }]);
});

test("no parameter is sent until the user turns it on", () => {
  const operations = Object.values(page.paths).flatMap((path) => Object.values(path));
  const parameters = [
    ...operations.flatMap((operation) => operation.parameters),
    ...Object.values(page.components.parameters),
  ].filter(({ $ref }) => $ref === undefined);
  expect(parameters.length).toBeGreaterThan(15);
  for (const { name, schema, examples } of parameters) {
    expect(schema).not.toHaveProperty("examples");
    expect([name, Object.values(examples ?? {})]).toEqual([
      name,
      [{ value: expect.anything(), "x-disabled": true }],
    ]);
  }
});

test("everything else is as in the document", () => {
  const { servers, paths, components, ...others } = page;
  expect(document).toMatchObject(others);
  expect(components).toEqual({ ...document.components, parameters: components.parameters });
  expect(paths).toMatchObject({
    "/api/v1/leads": { get: { operationId: "listLeads" }, post: { operationId: "createLead" } },
  });
});
