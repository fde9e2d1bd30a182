import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { generatedFiles } from "../../lib/generated-files.ts";

test.each(Object.entries(generatedFiles()))("%s is current: run `npm run generate`", async (path, text) => {
  expect(await readFile(join(import.meta.dirname, "../..", path), "utf8")).toBe(text);
});
