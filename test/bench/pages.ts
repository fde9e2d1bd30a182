/**
 * Measures what pages of counted lists cost, compared with plain queries, and what counting adds to writes: read and write
 * units, calls and round trips, for accounts of 1,000 to 1,000,000 leads in a table in memory. Every page is verified.
 *
 * Writes docs/bench/pages.md and docs/bench/pages.svg; exits 1 if a cost exceeds its limit.
 *
 * With the address of a Postgres in POSTGRES, it times pages of the local run beside those of Postgres instead, and writes
 * docs/bench/postgres.md and docs/bench/postgres.svg.
 *
 * Usage: [POSTGRES=postgres://…] npm run bench:pages [-- --quick]
 *   --quick  lists of up to 10,000 leads; docs/bench stays as it is
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { installClock } from "./pages/clock.ts";
import { measureOrders } from "./pages/orders.ts";
import { plot } from "./pages/plot.ts";
import { comparePostgres } from "./pages/postgres.ts";
import { postgresReport } from "./pages/postgres-report.ts";
import { Report } from "./pages/report.ts";
import { measureSizes } from "./pages/sizes.ts";
import { measureConversations, measureWindows } from "./pages/windows.ts";
import { measureWrites } from "./pages/writes.ts";

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
  // Between the smallest and the largest account, windows cost no other units.
  await measureWindows(
    report,
    sizes.filter((leads) => leads !== 100_000),
  );
  await measureConversations(report);
  await measureOrders(report, sizes.slice(0, 2));
  await measureWrites(report);
  const title = "Read units of a page of 20 leads: median, and a bar up to the worst";
  await write("pages", report.text(), plot(report.lines, title));
  if (!report.holds) process.exitCode = 1;
}
