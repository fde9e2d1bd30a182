import { afterEach, expect, test, vi } from "vitest";
import type { Settings } from "../../../../lib/config/settings.ts";
import { findCacheSeconds } from "../../../../lib/ops/accounts/accounts-erase.ts";

const settings = new Map([
  ["staging", { authorizerCacheSeconds: 300 }],
  ["dev", { authorizerCacheSeconds: 30 }],
]);

vi.mock(import("../../../../lib/config/read-stage-file.ts"), () => ({
  readProjectStage: (stage) => settings.get(stage) as Settings | undefined,
}));

afterEach(() => void vi.restoreAllMocks());

test.each([
  [{ stage: "staging" }, 300, ""],
  [{ stage: "staging", cacheSeconds: 0 }, 0, ""],
  [{ local: true }, 30, ""],
  [{ stage: "pr-42" }, 3600, "assuming 3600 seconds"],
  [{}, 3600, "--cache-seconds"],
])("with %j, a revoked key works for %i seconds", async (options, seconds, note) => {
  const errors = vi.spyOn(console, "error").mockImplementation(() => {});
  expect(await findCacheSeconds(options)).toBe(seconds);
  expect(errors).toHaveBeenCalledTimes(note ? 1 : 0);
  expect(String(errors.mock.calls)).toContain(note);
});
