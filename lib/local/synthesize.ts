import { rm } from "node:fs/promises";
import { Worker } from "node:worker_threads";
import { LocalRunError } from "./errors.ts";

/** What the worker says at its end: why it failed, if it did. */
export type Synthesis = { readonly fault?: string };

/**
 * Synthesizes the stack, freshly bundled, into a directory of its own.
 *
 * A worker does it, so that the hundreds of megabytes that the CDK holds go away with it.
 *
 * @returns the directory
 */
export async function synthesize(directory: string): Promise<string> {
  await rm(directory, { recursive: true, force: true });
  const worker = new Worker(new URL("./synthesize-worker.ts", import.meta.url), { workerData: directory });
  const { fault } = await new Promise<Synthesis>((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
    worker.once("exit", (code) => reject(new Error(`The synthesis ended with code ${code}.`)));
  });
  await worker.terminate();
  if (fault === undefined) return directory;
  throw new LocalRunError(`The stack cannot be synthesized: ${fault}`);
}
