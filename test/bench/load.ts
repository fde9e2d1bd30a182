/**
 * The whole service under load, on this machine: a mixed load that grows, a long one under which the memory of the
 * functions is watched, and an account that goes over its rate limit beside one that does not.
 *
 * Writes docs/bench/load.md; exits 1 if a promise does not hold, or if it takes longer than it should.
 *
 * Usage: npm run bench:load [-- --quick]
 *   --quick  a fiftieth of the long load, less of the rest, written to the terminal only
 */
import { writeFile } from "node:fs/promises";
import { loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { checksOf, holds } from "./load/checks.ts";
import { report } from "./load/report.ts";
import { type Plan, run } from "./load/run.ts";

const { values: options } = parseArgs({ options: { quick: { type: "boolean" } } });

const plan: Plan = {
  endurance: options.quick ? { requests: 2000, samplesOfTenth: 1 } : { requests: 100_000, samplesOfTenth: 2 },
  levels: [1, 2, 4, 8, 16, 32],
  levelSeconds: options.quick ? 2 : 5,
  // A third of what a machine of two processors can serve: with none to spare, every request waits for every other.
  neighbours: { quietRate: 10, greedyRate: 45, seconds: options.quick ? 5 : 40, rounds: 3 },
  rateLimit: { requests: 30, seconds: 2 },
};

/** A machine on which it takes longer is too busy to measure anything; minutes. */
const longest = 30;

const began = new Date();
const [loadBefore = 0] = loadavg();
const log = (line: string) => console.error(`${Math.round(performance.now() / 1000)} s: ${line}`);
// The service ends when this process does.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(1));
setTimeout(() => {
  console.error(`It has not come to its end within ${longest} minutes: the machine is too slow or too busy.`);
  process.exit(1);
}, longest * 60_000).unref();

const results = await run(plan, log);
const [loadAfter = 0] = loadavg();
const seconds = performance.now() / 1000;
const text = report(results, { at: began, seconds, load: [loadBefore, loadAfter] });
console.log(text);
if (!options.quick) await writeFile(join(import.meta.dirname, "..", "..", "docs", "bench", "load.md"), text);
if (!checksOf(results).every(holds)) process.exitCode = 1;
