/**
 * Simulates overload in virtual time: the real functions on a table in memory with DynamoDB's limits per partition key.
 *
 * Usage: npm run bench:overload -- [--source DIR] [--label TEXT] [--only SCENARIO]... [--minutes N] [--seed N]
 *          [--output FILE]
 *        npm run bench:overload -- --report FILE [--report FILE]...
 *   --source   the checkout whose functions run, by default this one
 *   --label    its name in the report
 *   --only     steady, outages, costs, one-lead or hot-account; all by default
 *   --minutes  how long a steady load lasts, by default 20 virtual minutes
 *   --seed     decides the times of requests and everything else that is random, by default 1
 *   --output   where the results go, by default .build/bench/overload.json
 *   --report   writes docs/bench/overload.md and overload.svg from the results of one run, or of one before a change and
 *              one after it; the files of a run with several have the same label, and the last one that has a scenario
 *              counts
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { type Results, run, type Scenario, save, scenarios } from "./overload/results.ts";

const root = join(import.meta.dirname, "..", "..");

const { values: options } = parseArgs({
  options: {
    source: { type: "string", default: root },
    label: { type: "string", default: "this checkout" },
    only: { type: "string", multiple: true, default: [...scenarios] },
    minutes: { type: "string", default: "20" },
    seed: { type: "string", default: "1" },
    output: { type: "string", default: join(root, ".build", "bench", "overload.json") },
    report: { type: "string", multiple: true },
  },
});

if (options.report) await writeReport(options.report);
else await simulate();

async function simulate(): Promise<void> {
  const log = (line: string) => console.error(`${Math.round(performance.now() / 1000)} s: ${line}`);
  const results = await run({
    source: resolve(options.source),
    label: options.label,
    scenarios: options.only as Scenario[],
    minutes: Number(options.minutes),
    seed: Number(options.seed),
    log,
  });
  await mkdir(dirname(options.output), { recursive: true });
  await save(options.output, results);
  const { report } = await import("./overload/report.ts");
  console.log(report([results]));
}

async function writeReport(files: readonly string[]): Promise<void> {
  const { report } = await import("./overload/report.ts");
  const { plot } = await import("./overload/plot.ts");
  const { mergeRuns } = await import("./overload/merge-runs.ts");
  const results = await Promise.all(
    files.map(async (file) => JSON.parse(await readFile(file, "utf8")) as Results),
  );
  const runs = mergeRuns(results);
  const directory = join(root, "docs", "bench");
  await writeFile(join(directory, "overload.md"), report(runs));
  await writeFile(join(directory, "overload.svg"), plot(runs));
}
