/** Synthesizes the stack into a directory, in a worker thread: the memory that the CDK holds goes away with it. */
import { workerData } from "node:worker_threads";
import { createApp } from "../../../lib/app.ts";

const { directory, context } = workerData as { directory: string; context: Record<string, unknown> };
(await createApp({ stage: "dev", outdir: directory, context })).synth();
