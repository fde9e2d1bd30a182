import { rm } from "node:fs/promises";
import { runNode } from "./child-process.ts";

interface Synthesis {
  /** The stage, by default `dev`. */
  readonly stage?: string | undefined;
  readonly signal?: AbortSignal;
}

/**
 * Synthesizes a stage into a directory of its own, as `cdk synth` would, but leaves the CDK's validation of the template and
 * cdk-nag to deployments, because they take more than half of the time.
 *
 * @returns the directory
 */
export async function synthesize(
  directory: string,
  { stage = "dev", signal }: Synthesis = {},
): Promise<string> {
  await rm(directory, { recursive: true, force: true });
  const env = {
    CDK_OUTDIR: directory,
    CDK_CONTEXT_JSON: JSON.stringify({ stage }),
    CDK_VALIDATION: "false",
  };
  await runNode(["bin/app.ts", "--unchecked"], { env, signal, failure: "The stack cannot be synthesized" });
  return directory;
}
