/**
 * Measures what pages of counted lists cost, compared with plain queries, and what counting adds to writes: read and write
 * units, calls and round trips, for accounts of 1,000 to 1,000,000 leads in a table in memory. Every page is verified.
 *
 * Writes docs/bench/pages.md, docs/bench/pages.svg and the table of costs in docs/deploying.md; exits 1 if a cost exceeds its
 * limit.
 *
 * With the address of a Postgres in POSTGRES, it times pages beside those of Postgres instead, and writes
 * docs/bench/postgres.md and docs/bench/postgres.svg.
 *
 * Usage: [POSTGRES=postgres://…] npm run bench:pages [-- --quick]
 *   --quick  lists of up to 10,000 leads; the documentation stays as it is
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { installClock } from "./pages/clock.ts";
import { measureLargest } from "./pages/largest.ts";
import { measureOrders } from "./pages/orders.ts";
import { Report } from "./pages/report.ts";
import { measureSizes } from "./pages/sizes.ts";
import { measureTail } from "./pages/tail.ts";
import { measureConversations, measureWindows } from "./pages/windows.ts";
import { measureWrites } from "./pages/writes.ts";
import { plot } from "./plot.ts";
import { comparePostgres } from "./postgres/compare.ts";
import { postgresReport } from "./postgres/report.ts";

const { values: options } = parseArgs({ options: { quick: { type: "boolean" } } });
const sizes = [10_000, ...(options.quick ? [] : [100_000, 1_000_000])];
const report = new Report();

const directory = join(import.meta.dirname, "../../docs/bench");
const write = async (name: string, page: string, svg: string) => {
  console.log(page);
  if (options.quick) return;
  await writeFile(join(directory, `${name}.md`), `${page}\n`);
  await writeFile(join(directory, `${name}.svg`), svg);
};

/** Replaces the table of what a million requests cost. */
async function writeCosts(): Promise<void> {
  console.log(report.costs);
  if (options.quick) return;
  const file = join(directory, "../deploying.md");
  const page = await readFile(file, "utf8");
  await writeFile(file, page.replace(/^\| Request \| W \|(?:.+\n)+/m, `${report.costs}\n`));
}

const { POSTGRES } = process.env;
if (POSTGRES) {
  const compared = await comparePostgres(
    POSTGRES,
    options.quick ? [10_000] : [10_000, 50_000, 200_000, 1_000_000],
  );
  await write("postgres", ...postgresReport(compared));
} else {
  installClock();
  await measureSizes(report, [1000, ...sizes]);
  await measureWindows(report, sizes.at(-1) ?? 0);
  await measureConversations(report);
  await measureOrders(report, sizes[1] ?? 10_000);
  await measureWrites(report);
  await measureTail(report);
  await measureLargest(report);
  const title = "Read units of a page of 20 leads with its total";
  await write("pages", report.text(), plot(report.lines, title));
  await writeCosts();
  for (const excess of report.excesses) console.error(excess);
  if (report.excesses.length > 0) process.exitCode = 1;
}
