import { expect, test, vi } from "vitest";

test.each([
  ["RATE_LIMIT_REQUESTS", "0"],
  ["RATE_LIMIT_REQUESTS", "many"],
  ["RATE_LIMIT_SECONDS", "0"],
  ["RATE_LIMIT_SECONDS", ""],
])("a function whose %s is %j does not start", async (name, value) => {
  vi.resetModules();
  vi.stubEnv("RATE_LIMIT_REQUESTS", "100");
  vi.stubEnv("RATE_LIMIT_SECONDS", "60");
  vi.stubEnv(name, value);
  const started = import("../../../shared/rate-limit/rate-limit.ts");
  await expect(started).rejects.toThrow(`${name} must be a whole number above 0.`);
});
