/**
 * Measures what pages of counted lists cost, compared with plain queries, and what counting adds to writes: read and write
 * units, calls and round trips, for accounts of 1,000 to 1,000,000 leads in a table in memory. Every page is verified.
 *
 * Writes docs/bench/pages.md and docs/bench/pages.svg; exits 1 if a cost exceeds its limit.
 *
 * Usage: npm run bench:pages [-- --quick]
 *   --quick  lists of up to 10,000 leads; docs/bench stays as it is
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { installClock } from "./pages/clock.ts";
import { measureOrders } from "./pages/orders.ts";
import { plot } from "./pages/plot.ts";
import { Report } from "./pages/report.ts";
import { measureSizes } from "./pages/sizes.ts";
import { measureSources } from "./pages/sources.ts";
import { measureConversations, measureWindows } from "./pages/windows.ts";
import { measureWrites } from "./pages/writes.ts";

const { values: options } = parseArgs({ options: { quick: { type: "boolean" } } });
const sizes = [10_000, ...(options.quick ? [] : [100_000, 1_000_000])];
const report = new Report();

installClock();
await measureSizes(report, [1000, ...sizes]);
await measureSources(report, sizes);
await measureWindows(report, sizes);
await measureConversations(report);
await measureOrders(report, sizes.slice(0, 2));
await measureWrites(report);
const text = report.text();
console.log(text);
if (!options.quick) {
  const directory = join(import.meta.dirname, "../../docs/bench");
  await writeFile(join(directory, "pages.md"), `${text}\n`);
  await writeFile(join(directory, "pages.svg"), plot(report.lines));
}
if (!report.holds) process.exitCode = 1;
