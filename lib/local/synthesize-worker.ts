/** Synthesizes the stack of the stage `dev` into the directory that it is given, in a worker thread. */
import { parentPort, workerData } from "node:worker_threads";
import { messageOf } from "./errors.ts";
import type { Synthesis } from "./synthesize.ts";

interface BuildFault {
  readonly text: string;
  readonly location?: { readonly file: string; readonly line: number } | null;
}

parentPort?.postMessage(await synthesis());

async function synthesis(): Promise<Synthesis> {
  try {
    // Imported here so that a fault in the stack's own modules is told like any other.
    const { createApp } = await import("../app.ts");
    const app = await createApp({ stage: "dev", outdir: workerData });
    app.synth();
    return {};
  } catch (error) {
    return { fault: firstFault(error) };
  }
}

/** The first of esbuild's errors, where it is one of esbuild's. */
function firstFault(error: unknown): string {
  const { errors: [fault] = [] } = error as { errors?: BuildFault[] };
  if (!fault) return messageOf(error);
  return fault.location ? `${fault.location.file}:${fault.location.line}: ${fault.text}` : fault.text;
}
