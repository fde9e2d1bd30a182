import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { expect, test } from "vitest";
import { faults, plant } from "./faults.ts";

test("each fault can be planted, and leaves TypeScript", () => {
  for (const fault of faults) {
    const source = readFileSync(join(import.meta.dirname, "../..", fault.file), "utf8");
    const planted = plant(source, fault);
    expect(planted, fault.why).not.toBe(source);
    expect(() => stripTypeScriptTypes(planted), fault.why).not.toThrow();
  }
});
