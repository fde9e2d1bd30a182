/**
 * Simulates the counted trees of lists of 1,000,000 to 100,000,000 rows: their levels and nodes, and what pages cost.
 *
 * Usage: npm run bench:trees -- [--pages N] [--most N]
 *   --pages  how many random pages of each filter are read, by default 200
 *   --most   leaves out lists of more rows than this, and prints the report only
 *
 * Writes docs/bench/trees.md. Exits with 1 if a page costs more than it may; a wrong page ends the run.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { cases } from "./trees/cases.ts";
import { checkLimits, holds, type Result } from "./trees/checks.ts";
import { readPages } from "./trees/read-pages.ts";
import { report } from "./trees/report.ts";
import { simulate } from "./trees/simulation.ts";

const { values: options } = parseArgs({
  options: { pages: { type: "string", default: "200" }, most: { type: "string" } },
});

const randomPages = Number(options.pages);
const results: Result[] = [];
for (const one of cases) {
  if (one.rows > Number(options.most ?? Number.POSITIVE_INFINITY)) continue;
  const simulation = await simulate(one);
  const { shape, rootBytes, largestNodeBytes } = simulation;
  results.push({
    ...one,
    shape,
    rootBytes,
    largestNodeBytes,
    pages: await readPages(simulation, randomPages),
  });
  const seconds = Math.round(process.cpuUsage().user / 1e6);
  console.error(`${seconds} s: ${one.kind} of ${one.rows.toLocaleString("en")} rows, ${one.name}`);
}
const text = report(results, randomPages);
console.log(text);
if (!options.most) await writeFile(join(import.meta.dirname, "..", "..", "docs", "bench", "trees.md"), text);
if (!checkLimits(results).every(holds)) process.exitCode = 1;
