import { join, relative } from "node:path";
import { startVitest, type TestModule } from "vitest/node";

const root = join(import.meta.dirname, "../..");

/** What happened to a test, or to a test file outside of its tests. */
export interface Outcome {
  /** The test file's path in the project. */
  readonly file: string;
  /** The full name of the test; undefined for an error outside of tests. */
  readonly test?: string;
  readonly state: "passed" | "failed" | "skipped" | "pending";
}

/** How long a test may take, in milliseconds, if it sets no limit of its own: the engine is slower than the embedded one. */
const testTimeout = 600_000;

/** Runs the integration tests whose files' paths contain one of the parts, or all without parts. */
export async function runTests(
  parts: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<readonly Outcome[]> {
  Object.assign(process.env, env);
  const options = { root, project: ["integration"], watch: false, passWithNoTests: true, testTimeout };
  const vitest = await startVitest("test", [...parts], options);
  const outcomes = [
    ...vitest.state.getTestModules().flatMap(toOutcomes),
    ...vitest.state.getUnhandledErrors().map(() => ({ file: "unhandled errors", state: "failed" }) as const),
  ];
  await vitest.close();
  return outcomes;
}

function toOutcomes(module: TestModule): Outcome[] {
  const file = relative(root, module.moduleId);
  const tests = [...module.children.allTests()].map((test) => ({
    ...{ file, test: test.fullName },
    state: test.result().state,
  }));
  const suites = [module, ...module.children.allSuites()];
  const errors = suites.flatMap((suite) => suite.errors()).map(() => ({ file, state: "failed" }) as const);
  return [...tests, ...errors];
}
