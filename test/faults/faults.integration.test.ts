import { randomUUID } from "node:crypto";
import { DeleteTableCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, expect, inject, test, vi } from "vitest";
import { engineClient } from "../../lib/local/engine/dynamodb-client.ts";
import { ensureTable } from "../../lib/local/engine/table-setup.ts";
import { engineEndpoint } from "../support/engine-endpoint.ts";
import { startFaultyApi } from "./faulty-api.ts";
import { everyKind, mixed } from "./phases.ts";
import { report } from "./report.ts";
import type { Phase, Result } from "./run.ts";

/**
 * `npm run test:faults` sets FAULTS_REQUESTS, which runs a phase of every kind with a new seed. FAULTS_SEED sets the
 * seed, and FAULTS_ONLY names the one phase to run.
 */
const { FAULTS_REQUESTS, FAULTS_SEED, FAULTS_ONLY } = process.env;
const phases = (FAULTS_REQUESTS ? everyKind(Number(FAULTS_REQUESTS)) : [mixed(400)]).filter(
  ({ name }) => !FAULTS_ONLY || name === FAULTS_ONLY,
);
const seed = Number(FAULTS_SEED || (FAULTS_REQUESTS ? Date.now() % 1_000_000 : 1));

const results: Result[] = [];
afterAll(() => void process.stdout.write(`${report(results, seed)}\n`));

/** Runs a phase on a new table with newly loaded functions, because the SDK's retry quota does not refill by itself. */
async function runAlone(phase: Phase): Promise<Result> {
  const { table } = inject("engine");
  const TableName = `faults-${randomUUID()}`;
  const client = engineClient(engineEndpoint);
  await ensureTable(client, { input: { ...table, TableName } }, engineEndpoint);
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

test.each(phases)("acknowledged writes exist exactly once, and all checks pass, with faults: $name", {
  timeout: 600_000,
}, async (phase) => {
  const result = await runAlone(phase);
  results.push(result);
  const { lost, doubled, violations } = result;
  expect({ lost, doubled, violations }).toEqual({ lost: [], doubled: [], violations: [] });
  // Otherwise nothing was tested.
  expect([...result.injected.keys()].sort()).toEqual(Object.keys(phase.rates).sort());
  expect(result.requests).toBeGreaterThanOrEqual(phase.requests);
  expect(result.acknowledged).toBeGreaterThan(phase.requests / 4);
  expect(result.listings).toBeGreaterThan(phase.requests / 10);
});
