/**
 * Loads the whole service on this machine: a growing mixed load, a long one that measures the functions' memory, and
 * an account over its rate limit beside one within it.
 *
 * Writes docs/bench/load.md; exits 1 if a limit is exceeded, the run time among them.
 *
 * Usage: npm run bench:load
 */
import { writeFile } from "node:fs/promises";
import { loadavg } from "node:os";
import { join } from "node:path";
import { checkLimits, holds } from "./load/checks.ts";
import { report } from "./load/report.ts";
import { run } from "./load/run.ts";

/** A machine on which the run takes longer is too busy to measure; minutes. */
const maxMinutes = 30;

const start = new Date();
const [loadBefore = 0] = loadavg();
const log = (line: string) => console.error(`${Math.round(performance.now() / 1000)} s: ${line}`);
// The service ends with this process.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(1));
setTimeout(() => {
  console.error(
    `The run has not finished within ${maxMinutes} minutes: the machine is too slow or too busy.`,
  );
  process.exit(1);
}, maxMinutes * 60_000).unref();

const results = await run(log);
const [loadAfter = 0] = loadavg();
const seconds = performance.now() / 1000;
const text = report(results, { at: start, seconds, load: [loadBefore, loadAfter] });
console.log(text);
await writeFile(join(import.meta.dirname, "..", "..", "docs", "bench", "load.md"), text);
if (!checkLimits(results).every(holds)) process.exitCode = 1;
