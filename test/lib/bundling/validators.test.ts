import { createRequire } from "node:module";
import { join } from "node:path";
import { expect, test } from "vitest";
import { validateCreateLead } from "../../../shared/http/route-validators.ts";
import { validateLead } from "../../../shared/schemas/record-validators.ts";
import type { Validator } from "../../../shared/schemas/validator.ts";
import { bundle } from "../../support/bundle.ts";
import { createDirectory } from "../../support/synthesize.ts";

const outfile = join(await createDirectory(), "validators.cjs");
await bundle(join(import.meta.dirname, "validators.ts"), outfile);
const bundled: typeof import("./validators.ts") = createRequire(import.meta.url)(outfile);

const requests = [
  { query: {}, body: { name: "Ada" } },
  { query: { page: "1" }, body: { tags: ["", 1], x: 1 } },
  { query: null },
  { query: {}, body: { name: "\u200b", source: "½".repeat(22) } },
];

/** Errors as a bundle has them: nobody reads the paths in the schema. */
const withoutPaths = (errors: Validator["errors"]) =>
  errors?.map((error) => ({ ...error, schemaPath: undefined })) ?? null;

test("the validators of a bundle find the errors that those of the sources find, in the same order", () => {
  for (const request of requests) {
    expect(bundled.validateCreateLead(request)).toBe(validateCreateLead(request));
    expect(bundled.validateCreateLead.errors).toEqual(withoutPaths(validateCreateLead.errors));
  }
  const lead = { id: "lead_1", name: "Ada", score: 1, status: "new", tags: [] };
  for (const createdAt of ["2026-01-01T00:00:00.000Z", "2026-01-01", undefined]) {
    expect(bundled.validateLead({ ...lead, createdAt })).toBe(validateLead({ ...lead, createdAt }));
    expect(bundled.validateLead.errors).toEqual(withoutPaths(validateLead.errors));
  }
  expect(bundled.validateLead.properties).toEqual(validateLead.properties);
});

test("a value of a body has two errors at most", () => {
  const tags = Array.from({ length: 1000 }, () => `\u0001${"x".repeat(64)}`);
  expect(validateCreateLead({ query: {}, body: { name: "Ada", tags } })).toBe(false);
  // And one for their number.
  expect(validateCreateLead.errors).toHaveLength(2001);
});
