/**
 * Runs test files of a copy of the project, in the order of the arguments, until one fails. It is a process of its own,
 * because a fault may never end. Each is a new one, so that the bundles and the stack have the fault, too.
 */
import { join } from "node:path";
import { createVitest, type TestModule, type TestSpecification } from "vitest/node";

/** What it sends: a test file has started or ended, or an error was thrown outside of the tests. */
export type RunEvent =
  | { readonly started: string }
  | { readonly ended: string; readonly milliseconds: number; readonly failed?: string | undefined }
  | { readonly unhandled: string };

const send = (event: RunEvent) => void process.send?.(event);
const [root = "", ...tests] = process.argv.slice(2);

const vitest = await createVitest("test", {
  root,
  watch: false,
  bail: 1,
  maxWorkers: 1,
  reporters: [
    {
      onTestModuleStart: ({ relativeModuleId }) => send({ started: relativeModuleId }),
      onTestModuleEnd: (module) =>
        send({
          ended: module.relativeModuleId,
          milliseconds: module.diagnostic().duration,
          failed: failureOf(module),
        }),
      onTestRunEnd: (_, [error]) => error && send({ unhandled: error.message }),
    },
  ],
  sequence: {
    sequencer: class {
      sort = (specifications: TestSpecification[]) => specifications;
      shard = this.sort;
    },
  },
});
const found = await vitest.globTestSpecifications(tests);
await vitest.runTestSpecifications(
  tests.flatMap((test) => found.filter(({ moduleId }) => moduleId === join(root, test))),
);
await vitest.close();
process.exit();

/** The first test of a file that failed. */
function failureOf(module: TestModule): string | undefined {
  if (module.ok()) return undefined;
  const [test] = module.children.allTests("failed");
  return test?.fullName ?? "the file itself";
}
