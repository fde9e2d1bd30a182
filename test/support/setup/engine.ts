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
import { engineClient } from "../../../lib/local/engine/dynamodb-client.ts";
import { startEngine } from "../../../lib/local/engine/engine.ts";
import { readStack } from "../../../lib/local/template/template.ts";
import { synthesizeAssembly } from "../stack/assembly.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The engines that the integration tests use, and the stack that they test. */
    engine: {
      readonly endpoints: readonly string[];
      readonly table: Omit<CreateTableCommandInput, "TableName">;
      /** The synthesized cloud assembly, with fresh bundles. */
      readonly assembly: string;
    };
  }
}

/**
 * Synthesizes the stack once and starts an engine in memory for each worker, or uses the engines at `DYNAMODB_ENDPOINT`,
 * which are separated by commas.
 *
 * An engine serves one request after the other. With a single engine, the load of one test file would cause timeouts in the
 * functions of another.
 */
export default async function setup(project: TestProject) {
  // Several test runs may run at once, so each has a directory of its own.
  const assembly = await mkdtemp(join(tmpdir(), "integration-"));
  const tableName = `test-${randomUUID()}`;
  await synthesizeAssembly({ outdir: assembly, tableName });
  const { table } = await readStack(assembly);
  const external = process.env.DYNAMODB_ENDPOINT;
  const engines = external
    ? external.split(",").map((endpoint) => ({ endpoint, stop: () => deleteTable(endpoint, tableName) }))
    : await Promise.all(Array.from({ length: project.config.maxWorkers }, () => startEngine({ ports: [0] })));
  project.provide("engine", {
    endpoints: engines.map(({ endpoint }) => endpoint),
    table: table.input,
    assembly,
  });
  return async () => {
    await Promise.all(engines.map((engine) => engine.stop()));
    await rm(assembly, { recursive: true });
  };
}

async function deleteTable(endpoint: string, TableName: string): Promise<void> {
  const client = engineClient(endpoint);
  try {
    await client.send(new DeleteTableCommand({ TableName }));
  } catch (error) {
    // Only the tests of the whole API create this table.
    if (!(error instanceof ResourceNotFoundException)) throw error;
  } finally {
    client.destroy();
  }
}
