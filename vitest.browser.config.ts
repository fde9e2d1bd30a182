import { defineConfig } from "vitest/config";

/** Apart from the other tests, for it needs a Chromium. */
export default defineConfig({
  test: {
    name: "browser",
    include: ["test/browser/*.browser.ts"],
    testTimeout: 600_000,
    hookTimeout: 120_000,
  },
});
