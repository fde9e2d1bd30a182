/**
 * Runs test files of a copy of the project, in the order of the arguments, until one fails. It is a process of its own,
 * because a fault may never end, and a new one each time, so that the bundles and the stack have the fault, too.
 */
import { join } from "node:path";
import { createVitest, type TestModule, type TestSpecification } from "vitest/node";

/** What it sends: a test file has started or ended. */
export type RunEvent =
  | { readonly started: string }
  | { readonly ended: string; readonly milliseconds: number; readonly failed?: string | undefined };

const send = (event: RunEvent) => void process.send?.(event);
const [root = "", ...tests] = process.argv.slice(2);

const reporter = {
  onTestModuleStart: (module: TestModule) => send({ started: module.relativeModuleId }),
  onTestModuleEnd(module: TestModule) {
    const [test] = module.children.allTests("failed");
    const failed = module.ok() ? undefined : (test?.fullName ?? "the file itself");
    send({ ended: module.relativeModuleId, milliseconds: module.diagnostic().duration, failed });
  },
};
class Sequencer {
  sort = (specifications: TestSpecification[]) => specifications;
  shard = this.sort;
}
const options = { root, watch: false, bail: 1, maxWorkers: 1, reporters: [reporter] };
const vitest = await createVitest("test", { ...options, sequence: { sequencer: Sequencer } });
const found = await vitest.globTestSpecifications(tests);
await vitest.runTestSpecifications(
  tests.flatMap((test) => found.filter(({ moduleId }) => moduleId === join(root, test))),
);
await vitest.close();
process.exit(vitest.state.getUnhandledErrors().length > 0 ? 1 : 0);
