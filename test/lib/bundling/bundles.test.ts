import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundle, functionNames } from "../../../lib/bundling/bundle.ts";

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "bundles-"));
});
afterAll(() => rm(directory, { recursive: true }));

test.each(
  functionNames,
)("the bundle of %s is small and holds nothing of Ajv but its runtime", async (name) => {
  const outfile = join(directory, `${name}.cjs`);
  const { outputs } = await bundle(join(import.meta.dirname, "../../../functions", `${name}.ts`), outfile);
  expect((await stat(outfile)).size).toBeLessThanOrEqual(420_000);
  const inputs = Object.values(outputs).flatMap((output) => Object.keys(output.inputs));
  expect(inputs).toContain(`functions/${name}.ts`);
  const ajv = inputs.filter((input) => /node_modules\/ajv/.test(input));
  expect(ajv.filter((input) => !input.includes("node_modules/ajv/dist/runtime/"))).toEqual([]);
});
