import { afterEach, expect, test, vi } from "vitest";
import { findCacheSeconds } from "../../../../lib/ops/accounts/accounts-erase.ts";

vi.mock(import("../../../../lib/config/config.ts"), () => ({
  hasOwnFile: (stage: string) => stage === "staging" || stage === "dev",
  readConfig: ({ stage }) =>
    ({ authorizerCacheSeconds: stage === "staging" ? 300 : 30 }) as ReturnType<
      typeof import("../../../../lib/config/config.ts").readConfig
    >,
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
