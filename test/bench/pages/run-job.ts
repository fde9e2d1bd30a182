/**
 * Runs one job of the benchmark in this process.
 *
 * Usage: node test/bench/pages/run-job.ts PART JOB SCALE FILE
 */
import { writeFile } from "node:fs/promises";
import type { Job, Scale } from "./job.ts";
import { type Part, parts } from "./parts.ts";
import { startWorld } from "./world.ts";

const [part, name, scale, file] = process.argv.slice(2) as [Part, string, Scale, string];
const log = (line: string) => console.error(`${name}, ${Math.round(performance.now() / 1000)} s: ${line}`);

// The engine ends, and its data are removed, when the process exits.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

const jobs: readonly Job[] = parts[part](scale);
const job = jobs.find((one) => one.name === name);
if (!job) throw new Error(`There is no job ${name}.`);
log("importing");
const { populations, measure } = job.prepare();
const world = await startWorld(populations);
try {
  // The modules of the table's client read the environment when they are loaded.
  const { installMeter } = await import("../../support/meter.ts");
  const { installClock } = await import("./clock.ts");
  installMeter();
  installClock();
  await writeFile(file, `${JSON.stringify(await measure(log))}\n`);
  log("done");
} finally {
  await world.stop();
}
