import { execFileSync } from "node:child_process";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

const integration = "test/**/*.integration.test.ts";
const nightly = "test/**/*.nightly.test.ts";
const stack = ["test/lib/*.test.ts", "test/lib/{bundling,config,constructs,monitoring}/**/*.test.ts"];

/** The test files of a worker share its process, which loads each package once; `clean-worker.ts` keeps them apart. */
const sharedWorkers = { isolate: false, setupFiles: "test/support/setup/clean-worker.ts" };

const onEngine = {
  isolate: false,
  globalSetup: "test/support/setup/engine.ts",
  setupFiles: ["clean-worker", "own-table", "longer-calls", "log-leak-check"].map(
    (name) => `test/support/setup/${name}.ts`,
  ),
};

const seed = process.env.TEST_SEED ?? seedOfCommit();
if (seed !== "whole")
  console.log(`Heavy suites run the part that TEST_SEED=${seed} selects, TEST_SEED=whole all.`);

/** Each commit tests another part of the heavy suites. */
function seedOfCommit(): string {
  try {
    const commit = execFileSync("git", ["rev-parse", "--short=8", "HEAD"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    return String(Number.parseInt(commit, 16));
  } catch {
    // The files are not from a repository.
    return "0";
  }
}

export default defineConfig({
  test: {
    // The functions log every request, so the output of passing tests is hidden unless a test prints for debugging.
    silent: process.env.ALLOW_LOG_LEAKS === "1" ? false : "passed-only",
    // Some tests wait. More workers gain little, and slow other runs on the machine.
    maxWorkers: Math.min(availableParallelism() + 1, 8),
    // A busy machine must not fail a test.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    // Hundreds of tests start commands, which load their code from here in half the time.
    env: {
      NODE_COMPILE_CACHE: join(import.meta.dirname, ".build/compile-cache"),
      // The name of the release must not change while files do.
      RELEASE_COMMIT: "ab12cd3",
      TEST_SEED: seed,
    },
    coverage: {
      // What is deployed, and the operator's changes of the same data.
      include: ["{functions,shared}/**/*.ts", "lib/ops/{accounts,counts,erasure,keys,table}/**/*.ts"],
      reporter: ["text-summary", ["text", { skipFull: true }]],
      thresholds: { lines: 95, branches: 90 },
    },
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: [integration, nightly, ...stack, "**/node_modules/**"],
          env: { TABLE_NAME: "unit", AWS_REGION: "local" },
          ...sharedWorkers,
        },
      },
      {
        extends: true,
        test: {
          name: "integration",
          include: [integration],
          ...onEngine,
        },
      },
      {
        extends: true,
        test: {
          name: "nightly",
          include: [nightly],
          testTimeout: 600_000,
          ...onEngine,
        },
      },
      {
        extends: true,
        test: {
          name: "stack",
          include: stack,
          exclude: [integration, nightly],
          ...sharedWorkers,
        },
      },
    ],
  },
});
