import { join } from "node:path";
import type { CreateTableCommandInput } from "@aws-sdk/client-dynamodb";
import type { TestProject } from "vitest/node";
import { createApp } from "../../lib/app.ts";
import { startEngine } from "../../lib/local/engine.ts";
import { readStack } from "../../lib/local/template.ts";

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
  const assembly = join(import.meta.dirname, "..", "..", ".build", "test-cdk.out");
  (await createApp({ stage: "dev", outdir: assembly })).synth();
  const { table } = await readStack(assembly);
  const endpoint = process.env.DYNAMODB_ENDPOINT;
  if (endpoint) {
    project.provide("engine", { endpoint, table: table.input, assembly });
    return;
  }
  const onExit = () => console.error("The embedded DynamoDB ended before the tests did.");
  const engine = await startEngine({ log: console.log, onExit });
  project.provide("engine", { endpoint: engine.endpoint, table: table.input, assembly });
  return () => engine.stop();
}
