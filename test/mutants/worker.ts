/**
 * Runs tests of a copy of the project, in a process of its own, because a mutant may never end. It receives tasks, and sends
 * an outcome for each, and `progress` meanwhile.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createVitest, type TestModule, type TestSpecification } from "vitest/node";

/** A source with its mutation, and test files, which run in this order until one fails. */
export interface Task {
  readonly file: string;
  readonly text: string;
  readonly tests: readonly string[];
}

export interface Outcome {
  /** The test that failed; undefined if all passed. */
  readonly failed?: { readonly file: string; readonly name: string };
  /** How long the test files took that ended, in milliseconds. */
  readonly durations: Readonly<Record<string, number>>;
}

const [root = ""] = process.argv.slice(2);

/** The modules of the current run. */
let ended: TestModule[] = [];

const vitest = await createVitest("test", {
  root,
  watch: false,
  bail: 1,
  maxWorkers: 1,
  reporters: [
    {
      onTestCaseResult: () => void process.send?.("progress"),
      onTestModuleEnd: (module) => void ended.push(module),
    },
  ],
  sequence: {
    sequencer: class {
      sort = (specifications: TestSpecification[]) => specifications;
      shard = this.sort;
    },
  },
});
const specifications = await vitest.globTestSpecifications();
// The first run with an engine synthesizes the stack for all that follow: it must be that of the unchanged sources.
const first = join(root, "test/lib/local/roles.integration.test.ts");
await vitest.runTestSpecifications(specifications.filter(({ moduleId }) => moduleId === first));
process.send?.("ready");

process.on("message", async ({ file, text, tests }: Task) => {
  const path = join(root, file);
  const original = await readFile(path, "utf8");
  await writeFile(path, text);
  vitest.invalidateFile(path);
  ended = [];
  const inOrder = tests.flatMap((test) =>
    specifications.filter(({ moduleId }) => moduleId === join(root, test)),
  );
  await vitest.runTestSpecifications(inOrder);
  await writeFile(path, original);
  vitest.invalidateFile(path);
  process.send?.({ failed: ended.flatMap(failure)[0], durations: durations() } satisfies Outcome);
});

function failure(module: TestModule) {
  if (module.ok()) return [];
  const [test] = module.children.allTests("failed");
  return [{ file: module.relativeModuleId, name: test?.fullName ?? "the file" }];
}

const durations = () =>
  Object.fromEntries(ended.map((module) => [module.relativeModuleId, module.diagnostic().duration]));
