import { rm } from "node:fs/promises";
import { runNode } from "./child-process.ts";

interface Synthesis {
  /** Configuration values over those of the stage. */
  readonly context?: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal;
}

/** Synthesizes the stage `dev` into a directory of its own, as `cdk synth` would. @returns the directory */
export async function synthesize(directory: string, { context, signal }: Synthesis = {}): Promise<string> {
  await rm(directory, { recursive: true, force: true });
  const env = { CDK_OUTDIR: directory, CDK_CONTEXT_JSON: JSON.stringify({ ...context, stage: "dev" }) };
  await runNode(["bin/app.ts"], { env, signal, failure: "The stack cannot be synthesized" });
  return directory;
}
