import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { expect, test } from "vitest";
import { faults, plant } from "./faults.ts";

test.each(faults)("$file can have the fault: $why", (fault) => {
  const source = readFileSync(join(import.meta.dirname, "../..", fault.file), "utf8");
  const planted = plant(source, fault);
  expect(planted).not.toBe(source);
  // It throws for what is no TypeScript.
  stripTypeScriptTypes(planted);
});

test("no fault is listed twice", () => {
  expect(new Set(faults.map(({ file, changes }) => JSON.stringify([file, changes]))).size).toBe(
    faults.length,
  );
});
