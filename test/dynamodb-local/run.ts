/**
 * Runs the integration tests on DynamoDB Local, AWS's own engine, and compares what fails with the known differences.
 *
 * Usage: npm run test:dynamodb-local [-- <part of a test file's path> …]
 */
import { run } from "../../lib/command-line.ts";
import { UserError } from "../../lib/errors.ts";
import { compareOutcomes, nameOf } from "./compare-outcomes.ts";
import { differences } from "./differences.ts";
import { startDynamodbLocal } from "./engine.ts";
import { type Outcome, runTests } from "./vitest-run.ts";

/** The engine is slower than the embedded one, and functions give a call one second. */
const { VITEST_MAX_WORKERS = "2", FAULTS_REQUESTS = "1000" } = process.env;

/** The tests that inject more faults with `FAULTS_REQUESTS`, and run beside no others. */
const faults = ["test/faults/faults.", "test/faults/limits."];

const known = new Set(differences.map(({ test }) => test));
const isUnknown = (outcome: Outcome) => outcome.state === "failed" && !known.has(nameOf(outcome));

/** Runs test files, and those with an unknown failure once more, one at a time: a slow machine is no difference. */
async function runTwice(parts: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<readonly Outcome[]> {
  const first = await runTests(parts, { VITEST_MAX_WORKERS, ...env });
  const files = new Set(first.filter(isUnknown).map(({ file }) => file));
  if (files.size === 0) return first;
  console.log(`\nOnce more, one file at a time: ${[...files].join(", ")}\n`);
  const again = await runTests([...files], { VITEST_MAX_WORKERS: "1" });
  return [...first.filter(({ file }) => !files.has(file)), ...again];
}

await run(async () => {
  const parts = process.argv.slice(2);
  await using engine = await startDynamodbLocal();
  process.env.DYNAMODB_ENDPOINT = engine.endpoint;
  const outcomes = [
    ...(await runTwice(parts)),
    ...(parts.length === 0 ? await runTwice(faults, { FAULTS_REQUESTS }) : []),
  ];
  if (outcomes.length === 0)
    throw new UserError(`No integration test has ${parts.join(" or ")} in its path.`);
  const { passed, skipped, known, unknown, gone } = compareOutcomes(outcomes, differences);
  console.log(
    `\nDynamoDB Local: ${passed} tests passed, ${skipped} were skipped, ${known.length} known differences.`,
  );
  for (const { test, reason, source } of known) console.log(`\n${test}\n  ${reason}\n  ${source}`);
  for (const name of unknown) console.error(`\nFailed: ${name}`);
  for (const name of gone) console.error(`\nNo difference any more, remove it from differences.ts: ${name}`);
  process.exitCode = unknown.length + gone.length > 0 ? 1 : 0;
});
