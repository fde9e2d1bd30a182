import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type CreateTableCommandInput,
  DeleteTableCommand,
  ResourceNotFoundException,
} from "@aws-sdk/client-dynamodb";
import type { TestProject } from "vitest/node";
import { engineClient } from "../../lib/local/engine/dynamodb-client.ts";
import { startEngine } from "../../lib/local/engine/engine.ts";
import { readStack } from "../../lib/local/template/template.ts";
import { synthesizeAssembly } from "./assembly.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The engine under the integration tests, and the stack that they test. */
    engine: {
      readonly endpoint: string;
      readonly table: Omit<CreateTableCommandInput, "TableName">;
      /** The synthesized cloud assembly, with fresh bundles. */
      readonly assembly: string;
    };
  }
}

/** Synthesizes the stack once and starts an engine in memory, or takes the one at `DYNAMODB_ENDPOINT`. */
export default async function setup(project: TestProject) {
  // In a directory of its own, for several test runs go on at once.
  const assembly = await mkdtemp(join(tmpdir(), "integration-"));
  const tableName = `test-${randomUUID()}`;
  await synthesizeAssembly({ outdir: assembly, tableName });
  const { table } = await readStack(assembly);
  const engine = await engineOf(process.env.DYNAMODB_ENDPOINT || undefined, tableName);
  project.provide("engine", { endpoint: engine.endpoint, table: table.input, assembly });
  return async () => {
    await engine.stop();
    await rm(assembly, { recursive: true });
  };
}

async function engineOf(endpoint: string | undefined, tableName: string) {
  if (endpoint) return { endpoint, stop: () => deleteTable(endpoint, tableName) };
  const onExit = () => console.error("The embedded DynamoDB ended before the tests did.");
  return startEngine({ log: console.log, onExit });
}

async function deleteTable(endpoint: string, TableName: string): Promise<void> {
  const client = engineClient(endpoint);
  try {
    await client.send(new DeleteTableCommand({ TableName }));
  } catch (error) {
    // A run of other tests than the API's made none.
    if (!(error instanceof ResourceNotFoundException)) throw error;
  } finally {
    client.destroy();
  }
}
