/**
 * Measures what pages of counted lists cost, compared with plain queries, and what counting adds to writes: read and write
 * units, calls and round trips, for accounts of 1,000 to 1,000,000 leads in a table in memory. Every page is verified.
 *
 * Writes docs/bench/pages.md and docs/bench/pages.svg; exits 1 if a cost exceeds its limit.
 *
 * Usage: npm run bench:pages [-- [--quick] [--only PARTS]]
 *   --quick  lists of up to 10,000 leads; docs/bench stays as it is
 *   --only   only these parts, separated by commas: sizes, sources, windows, writes; docs/bench stays as it is
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { installClock } from "./pages/clock.ts";
import { measureConversations } from "./pages/conversations.ts";
import { plot } from "./pages/plot.ts";
import { Report } from "./pages/report.ts";
import { measureSizes } from "./pages/sizes.ts";
import { measureSources } from "./pages/sources.ts";
import { measureWindows } from "./pages/windows.ts";
import { measureWrites } from "./pages/writes.ts";

const { values: options } = parseArgs({ options: { quick: { type: "boolean" }, only: { type: "string" } } });
const sizes = [10_000, ...(options.quick ? [] : [100_000, 1_000_000])];
const report = new Report();
const parts: Readonly<Record<string, () => Promise<void>>> = {
  sizes: () => measureSizes(report, [1000, ...sizes]),
  sources: () => measureSources(report, sizes),
  windows: async () => {
    await measureWindows(report, sizes);
    await measureConversations(report);
  },
  writes: () => measureWrites(report),
};

installClock();
for (const name of options.only?.split(",") ?? Object.keys(parts)) {
  const measure = parts[name];
  if (!measure) throw new Error(`There is no part ${name}: there are ${Object.keys(parts).join(", ")}.`);
  await measure();
}
const text = report.text();
console.log(text);
if (!options.quick && options.only === undefined) {
  const directory = join(import.meta.dirname, "../../docs/bench");
  await writeFile(join(directory, "pages.md"), `${text}\n`);
  await writeFile(join(directory, "pages.svg"), plot(report.lines));
}
if (!report.holds) process.exitCode = 1;
