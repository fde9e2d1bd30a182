/**
 * Loads the whole service on this machine: a growing mixed load, a long one that measures the functions' memory, and
 * an account over its rate limit beside one within it.
 *
 * Writes docs/bench/load.md; exits 1 if a limit is exceeded, the run time among them.
 *
 * Usage: npm run bench:load [-- --quick]
 *   --quick  a fiftieth of the long load, less of the others, printed only
 */
import { writeFile } from "node:fs/promises";
import { loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { checkLimits, holds } from "./load/checks.ts";
import { report } from "./load/report.ts";
import { type Plan, run } from "./load/run.ts";

const { values: options } = parseArgs({
  options: { quick: { type: "boolean" } },
});

const plan: Plan = {
  endurance: options.quick
    ? { requests: 2000, samplesPerTenth: 1 }
    : { requests: 100_000, samplesPerTenth: 2 },
  levels: [1, 2, 4, 8, 16, 32],
  levelSeconds: options.quick ? 2 : 5,
  // A third of what two processors can serve: at full load, every request would wait for others.
  neighbours: { quietRate: 10, greedyRate: 45, seconds: options.quick ? 5 : 40, rounds: 3 },
  rateLimit: { requests: 30, seconds: 2 },
};

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

const results = await run(plan, log);
const [loadAfter = 0] = loadavg();
const seconds = performance.now() / 1000;
const text = report(results, { at: start, seconds, load: [loadBefore, loadAfter] });
console.log(text);
if (!options.quick) await writeFile(join(import.meta.dirname, "..", "..", "docs", "bench", "load.md"), text);
if (!checkLimits(results).every(holds)) process.exitCode = 1;
