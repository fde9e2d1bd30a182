/**
 * What pages of counted lists cost, beside plain counted queries, and what counting costs those who write: accounts of
 * 1,000 to 100,000 leads on an embedded DynamoDB of its own, in read and write units, round trips and time.
 *
 * Writes docs/bench/pages.md and docs/bench/pages.svg; exits 1 if a promise about costs does not hold.
 *
 * Usage: npm run bench:pages [-- --million | --quick]
 *   --million  an account of 1,000,000 leads besides: the better part of an hour, and 8 GB of disk
 *   --quick    accounts of 1,000 and 10,000 leads and a small import, written to the terminal only
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

/** Half of the leads are of 20 sources, which come first, the others each of its own. */
const sourceOf = (n: number) =>
  `campaign-of-the-year-2025-${String(n < 40 || n % 2 === 1 ? n % 20 : n).padStart(6, "0")}`;

const populations: Populations = {
  sizes: sizes.map((size) => populate(`leads-${String(size).padStart(7, "0")}`, size)),
  sources: populate("many-sources", 20_000, sourceOf),
  backdated: [false, true].map((late) => ({
    population: populate(late ? "imported-late" : "imported-live", 10_000),
    late,
  })),
  imported: options.quick ? 3000 : 100_000,
};

const began = Date.now();
const log = (line: string) => console.error(`${Math.round(performance.now() / 1000)} s: ${line}`);
// The engine and its data go with the process.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

log("importing leads");
const { sizes: counted, sources, backdated } = populations;
const world = await startWorld([...counted, sources, ...backdated.map(({ population }) => population)]);
try {
  // The client reads the engine's address when it is loaded.
  const { run } = await import("./pages/run.ts");
  const { report } = await import("./pages/report.ts");
  const { plot } = await import("./pages/plot.ts");
  const { checksOf, holds } = await import("./pages/checks.ts");
  const results = await run(populations, log);
  const text = report(results, new Date(began));
  console.log(text);
  if (!options.quick) {
    const directory = join(import.meta.dirname, "..", "..", "docs", "bench");
    await mkdir(directory, { recursive: true });
    await writeFile(join(directory, "pages.md"), text);
    await writeFile(join(directory, "pages.svg"), plot(results.accounts));
  }
  if (!checksOf(results).every((check) => holds(check) || check.aim)) process.exitCode = 1;
} finally {
  await world.stop();
}
