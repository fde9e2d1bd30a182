import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApp } from "../../../lib/app.ts";
import { selectEngineTable } from "../../../lib/local/engine/dynamodb-client.ts";
import { startEngine } from "../../../lib/local/engine/engine.ts";
import { prepareTable } from "../../../lib/local/engine/table-setup.ts";
import { readStack } from "../../../lib/local/template/template.ts";

/** Starts an engine with the stack's table, in memory, and makes this process and those that it starts use it. @returns how to stop it */
export async function startEngineTable(): Promise<() => Promise<void>> {
  const outdir = await mkdtemp(join(tmpdir(), "bench-start-"));
  (await createApp({ stage: "dev", outdir })).synth();
  const { table } = await readStack(outdir);
  await rm(outdir, { recursive: true });
  const engine = await startEngine({
    log: console.error,
    onExit() {
      console.error("The embedded DynamoDB ended before the benchmark did.");
      process.exit(1);
    },
  });
  const { TableName } = table.input;
  await prepareTable(table, engine.endpoint);
  selectEngineTable(engine.endpoint, TableName);
  Object.assign(process.env, {
    TABLE_NAME: TableName,
    AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint,
    AWS_REGION: "local",
    AWS_ACCESS_KEY_ID: "local",
    AWS_SECRET_ACCESS_KEY: "local",
  });
  return engine.stop;
}
