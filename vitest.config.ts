import { defineConfig } from "vitest/config";
import { validatorsVitePlugin } from "./lib/bundling/validators.ts";

const integration = "test/**/*.integration.test.ts";
const stack = ["test/lib/*.test.ts", "test/lib/{bundling,config,constructs,monitoring}/**/*.test.ts"];

export default defineConfig({
  plugins: [validatorsVitePlugin()],
  test: {
    // The functions log every request, so the output of passing tests is hidden unless a test prints for debugging.
    silent: process.env.ALLOW_LOG_LEAKS ? false : "passed-only",
    // A busy machine must not fail a test.
    expect: { poll: { timeout: 10_000 } },
    coverage: {
      include: ["functions/**/*.ts", "shared/**/*.ts"],
      reporter: ["text-summary", ["text", { skipFull: true }]],
      thresholds: { lines: 95, branches: 90 },
    },
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: [integration, ...stack],
          testTimeout: 30_000,
          env: { TABLE_NAME: "unit", AWS_REGION: "local" },
        },
      },
      {
        extends: true,
        test: {
          name: "integration",
          include: [integration],
          globalSetup: "test/support/engine.ts",
          setupFiles: ["test/support/own-table.ts", "test/support/log-leak-check.ts"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      { extends: true, test: { name: "stack", include: stack, testTimeout: 60_000, hookTimeout: 60_000 } },
    ],
  },
});
