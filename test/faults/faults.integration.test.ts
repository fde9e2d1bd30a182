import { randomUUID } from "node:crypto";
import { DeleteTableCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, expect, inject, test, vi } from "vitest";
import { engineClient } from "../../lib/local/engine/dynamodb-client.ts";
import { ensureTable } from "../../lib/local/engine/table-setup.ts";
import { startFaultyApi } from "./faulty-api.ts";
import { everyKind, mixed } from "./phases.ts";
import { report } from "./report.ts";
import type { Phase, Result } from "./run.ts";

/**
 * `npm run test:faults` asks for thousands of requests, and so for a phase of every kind with a new seed, unless one
 * is given; FAULTS_ONLY names the one phase to repeat.
 */
const { FAULTS_REQUESTS, FAULTS_SEED, FAULTS_ONLY } = process.env;
const phases = (FAULTS_REQUESTS ? everyKind(Number(FAULTS_REQUESTS)) : [mixed(400)]).filter(
  ({ name }) => !FAULTS_ONLY || name === FAULTS_ONLY,
);
const seed = Number(FAULTS_SEED || (FAULTS_REQUESTS ? Date.now() % 1_000_000 : 1));

const results: Result[] = [];
afterAll(() => void process.stdout.write(`${report(results, seed)}\n`));

/** Runs a phase on a table of its own, by functions that start cold: the SDK's tries do not come back by themselves. */
async function runAlone(phase: Phase): Promise<Result> {
  const { endpoint, table } = inject("engine");
  const TableName = `faults-${randomUUID()}`;
  const client = engineClient(endpoint);
  await ensureTable(client, { input: { ...table, TableName } }, endpoint);
  vi.stubEnv("TABLE_NAME", TableName);
  vi.resetModules();
  const api = await startFaultyApi();
  const { startMaintainer } = await import("./maintainer.ts");
  const { runPhase } = await import("./run.ts");
  const maintainer = await startMaintainer(api);
  try {
    return await runPhase(phase, { ...api, maintainer, seed });
  } finally {
    await maintainer.stop();
    api.table.close();
    await client.send(new DeleteTableCommand({ TableName }));
    client.destroy();
  }
}

test.each(phases)("what is acknowledged exists exactly once, and all else holds, under $name", {
  timeout: 600_000,
}, async (phase) => {
  const result = await runAlone(phase);
  results.push(result);
  const { lost, doubled, broken } = result;
  expect({ lost, doubled, broken }).toEqual({ lost: [], doubled: [], broken: [] });
  // Else nothing was tried.
  expect([...result.injected.keys()].sort()).toEqual(Object.keys(phase.rates).sort());
  expect(result.requests).toBeGreaterThanOrEqual(phase.requests);
  expect(result.acknowledged).toBeGreaterThan(phase.requests / 4);
  expect(result.listings).toBeGreaterThan(phase.requests / 10);
});
