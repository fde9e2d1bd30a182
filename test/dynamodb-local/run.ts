/**
 * Runs the integration tests on DynamoDB Local, AWS's own engine, and compares what fails with the known differences.
 *
 * Usage: npm run test:dynamodb-local [-- <part of a test file's path> …]
 */
import { run } from "../../lib/command-line.ts";
import { UserError } from "../../lib/errors.ts";
import { compareOutcomes, mergeRuns, nameOf } from "./compare-outcomes.ts";
import { differences } from "./differences.ts";
import { startDynamodbLocal } from "./engine.ts";
import { type Outcome, runTests } from "./vitest-run.ts";

/** Each worker and its engine need a processor of their own. */
const { VITEST_MAX_WORKERS = "2", FAULTS_REQUESTS = "1000" } = process.env;

/** The tests that inject more faults with `FAULTS_REQUESTS`, and run beside no others. */
const faults = ["test/faults/faults.", "test/faults/limits."];

const known = new Set(differences.map(({ test }) => test));
const isUnknown = (outcome: Outcome) => outcome.state === "failed" && !known.has(nameOf(outcome));

/** How often a test file runs until each of its tests has passed or failed as known. */
const mostRuns = 3;

/**
 * Runs test files on new engines, one for each worker: an engine serves one request after the other, and becomes slower
 * with each table, because it keeps all streams.
 */
async function runOnce(
  parts: readonly string[],
  workers: number,
  env: NodeJS.ProcessEnv = {},
): Promise<readonly Outcome[]> {
  await using engines = new AsyncDisposableStack();
  const start = async () => engines.use(await startDynamodbLocal()).endpoint;
  const endpoints = await Promise.all(Array.from({ length: workers }, start));
  const VITEST_MAX_WORKERS = String(workers);
  return await runTests(parts, { DYNAMODB_ENDPOINT: endpoints.join(), VITEST_MAX_WORKERS, ...env });
}

/** Runs test files. Those with other failures run again, one at a time: a slow machine is no difference. */
async function runRepeatedly(
  parts: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<readonly Outcome[]> {
  let outcomes = await runOnce(parts, Number(VITEST_MAX_WORKERS), env);
  for (let runs = 1; runs < mostRuns && outcomes.some(isUnknown); runs++) {
    const files = [...new Set(outcomes.filter(isUnknown).map(({ file }) => file))];
    console.log(`\nAgain, one file at a time: ${files.join(", ")}\n`);
    outcomes = mergeRuns(outcomes, await runOnce(files, 1));
  }
  return outcomes;
}

await run(async () => {
  const parts = process.argv.slice(2);
  const outcomes = [
    ...(await runRepeatedly(parts)),
    ...(parts.length === 0 ? await runRepeatedly(faults, { FAULTS_REQUESTS }) : []),
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
