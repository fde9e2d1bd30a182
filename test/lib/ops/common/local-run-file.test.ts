import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { localRunFile } from "../../../../lib/ops/common/local-run-file.ts";

test("without DATA_DIR, the run is that of the project's directory", () => {
  vi.stubEnv("DATA_DIR", "");
  expect(localRunFile()).toBe(join(import.meta.dirname, "../../../../.local/run.json"));
});
