/**
 * Measures the cost of pages of counted lists, compared with plain counted queries, and the cost that counting adds to
 * writes: read and write units, round trips and time, for accounts of 1,000 to 100,000 leads on an embedded DynamoDB.
 *
 * Writes docs/bench/pages.md and docs/bench/pages.svg; exits 1 if a cost exceeds its limit.
 *
 * Usage: npm run bench:pages [-- --million | --quick]
 *   --million  also an account of 1,000,000 leads: takes most of an hour and 8 GB of disk
 *   --quick    accounts of 1,000 and 10,000 leads and a small import, printed only
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { populate } from "./pages/population.ts";
import type { Populations } from "./pages/run.ts";
import { startWorld } from "./pages/world.ts";

const { values: options } = parseArgs({
  options: { million: { type: "boolean" }, quick: { type: "boolean" } },
});

const sizes = [1000, 10_000, ...(options.quick ? [] : [100_000]), ...(options.million ? [1_000_000] : [])];

/** Half of the leads share 20 sources, which come first; each of the others has its own. */
const toSource = (n: number) =>
  `campaign-of-the-year-2025-${String(n < 40 || n % 2 === 1 ? n % 20 : n).padStart(6, "0")}`;

const populations: Populations = {
  sizes: sizes.map((size) => populate(`leads-${String(size).padStart(7, "0")}`, size)),
  sources: populate("many-sources", 20_000, toSource),
  backdated: [false, true].map((late) => ({
    population: populate(late ? "imported-late" : "imported-live", 10_000),
    late,
  })),
  imported: options.quick ? 3000 : 100_000,
};

const start = Date.now();
const log = (line: string) => console.error(`${Math.round(performance.now() / 1000)} s: ${line}`);
// The engine ends, and its data are removed, when the process exits.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

log("importing leads");
const { sizes: counted, sources, backdated } = populations;
const world = await startWorld([...counted, sources, ...backdated.map(({ population }) => population)]);
try {
  // The modules of the table's client read the environment when they are loaded.
  const { run } = await import("./pages/run.ts");
  const { report } = await import("./pages/report.ts");
  const { plot } = await import("./pages/plot.ts");
  const { checkLimits, holds } = await import("./pages/checks.ts");
  const results = await run(populations, log);
  const text = report(results, new Date(start));
  console.log(text);
  if (!options.quick) {
    const directory = join(import.meta.dirname, "..", "..", "docs", "bench");
    await mkdir(directory, { recursive: true });
    await writeFile(join(directory, "pages.md"), text);
    await writeFile(join(directory, "pages.svg"), plot(results.accounts));
  }
  if (!checkLimits(results).every((check) => holds(check) || check.aim)) process.exitCode = 1;
} finally {
  await world.stop();
}
