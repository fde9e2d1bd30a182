/**
 * Rebuilds and verifies the counts of a large account in virtual time, beside a load, with DynamoDB's limits per
 * partition key; each command is killed once and run again.
 *
 * Usage: npm run bench:rebuild -- [--leads N] [--seeds N] [--before FILE] [--source DIR] [--label TEXT] [--output FILE]
 *   --leads   how many leads the account has, by default 1,000,000
 *   --seeds   how many trials there are, by default 6: half of them with 4 sources, half with 20
 *   --before  results of another checkout, which docs/bench/rebuild.md then shows as well
 *   --source  another checkout whose code runs: prints its results, and leaves docs/bench/rebuild.md as it is
 *   --label   its name in the report
 *   --output  where the results go, by default .build/bench/rebuild.json
 *
 * Writes docs/bench/rebuild.md. Exits with 1 unless all trials succeed.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { report } from "./rebuild/report.ts";
import { type Results, run } from "./rebuild/results.ts";
import { hasSucceeded } from "./rebuild/trial.ts";

const root = join(import.meta.dirname, "..", "..");

const { values: options } = parseArgs({
  options: {
    leads: { type: "string", default: "1000000" },
    seeds: { type: "string", default: "6" },
    before: { type: "string" },
    source: { type: "string" },
    label: { type: "string", default: "this checkout" },
    output: { type: "string", default: join(root, ".build", "bench", "rebuild.json") },
  },
});

const before = options.before ? [JSON.parse(await readFile(options.before, "utf8")) as Results] : [];
const results = await run({
  source: resolve(options.source ?? root),
  label: options.label,
  leads: Number(options.leads),
  seeds: Number(options.seeds),
  log: (line) => console.error(`${Math.round(performance.now() / 1000)} s: ${line}`),
});
await mkdir(dirname(options.output), { recursive: true });
await writeFile(options.output, `${JSON.stringify(results)}\n`);
const text = report([...before, results]);
console.log(text);
if (!options.source) await writeFile(join(root, "docs", "bench", "rebuild.md"), text);
if (!results.trials.every(hasSucceeded)) process.exitCode = 1;
