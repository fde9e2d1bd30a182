/**
 * Measures the cost of pages of counted lists, compared with plain counted queries, and the cost that counting adds to
 * writes: read and write units, calls, round trips and time, for accounts of 1,000 to 100,000 leads on an embedded
 * DynamoDB.
 *
 * Writes docs/bench/pages.md and docs/bench/pages.svg; exits 1 if a cost exceeds its limit. Each part keeps its results in
 * .build/bench/pages, so the parts of a run can be measured one after another.
 *
 * Usage: npm run bench:pages [-- [--million | --quick] [--only PARTS] [--report]]
 *   --million  also accounts of 1,000,000 leads: takes about an hour and a half, and 5 GB of disk
 *   --quick    small accounts; docs/bench stays as it is
 *   --only     measures these parts or jobs, separated by commas, and prints them; docs/bench stays as it is. The parts are
 *              sizes, sources, windows and writes; a job is named in the output, such as sources-100000
 *   --report   measures nothing: reports what has been measured, with --only some of it
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { checkLimits, holds } from "./pages/report/checks.ts";
import { plot } from "./pages/report/plot.ts";
import { report } from "./pages/report/report.ts";
import { listJobs, readResults } from "./pages/results.ts";

const { values: options } = parseArgs({
  options: {
    million: { type: "boolean" },
    quick: { type: "boolean" },
    only: { type: "string" },
    report: { type: "boolean" },
  },
});

const root = join(import.meta.dirname, "..", "..");
const saved = join(root, ".build", "bench", "pages");
const scale = options.quick ? "quick" : options.million ? "million" : "normal";
const only = options.only?.split(",");
const all = listJobs(saved, scale);
const unknown = only?.filter((word) => !all.some(({ part, name }) => word === part || word === name)) ?? [];
if (unknown.length > 0) throw new Error(`There is no part or job ${unknown.join(", ")}.`);
const jobs = all.filter(({ part, name }) => !only || only.includes(part) || only.includes(name));

// A job ends with this process.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

if (!options.report) {
  await mkdir(join(saved, scale), { recursive: true });
  for (const { part, name, file } of jobs) {
    const program = join(import.meta.dirname, "pages", "run-job.ts");
    const child = spawn(process.execPath, [program, part, name, scale, file], { stdio: "inherit" });
    const end = () => child.kill();
    process.once("exit", end);
    const [status] = await once(child, "exit");
    process.off("exit", end);
    if (status !== 0) process.exit(1);
  }
}
const results = await readResults(jobs, console.error);
const text = report(results, new Date());
console.log(text);
if (scale !== "quick" && !options.only) {
  const directory = join(root, "docs", "bench");
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, "pages.md"), text);
  await writeFile(join(directory, "pages.svg"), plot(results));
}
if (!checkLimits(results).every((check) => holds(check) || check.aim)) process.exitCode = 1;
