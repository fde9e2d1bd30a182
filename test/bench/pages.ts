/**
 * Measures what pages of counted lists cost, and what counting adds to writes: read and write units, calls and round trips,
 * for accounts of 1,000 to 1,000,000 leads in a table in memory. Every page is compared with the rows in memory.
 *
 * Writes the tables of docs/bench/pages.md, its picture, and the table of costs in docs/deploying.md; exits 1 if a cost
 * exceeds its limit.
 *
 * With the address of a Postgres in POSTGRES, it compares the times of pages with those of Postgres instead, and writes
 * docs/bench/postgres.md.
 *
 * Usage: [POSTGRES=postgres://…] npm run bench:pages [-- --quick]
 *   --quick  lists of up to 10,000 leads; the documentation stays as it is
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { measureConversations } from "./pages/conversations.ts";
import { measureLargest } from "./pages/largest.ts";
import { measureLists } from "./pages/lists.ts";
import { installClock } from "./pages/metered-table.ts";
import { pageCosts } from "./pages/prices.ts";
import { measureFirstPages, measureWrites } from "./pages/writes.ts";
import { plot } from "./plot.ts";
import { comparePostgres } from "./postgres/compare.ts";
import { writeTable } from "./report.ts";

const { quick } = parseArgs({ options: { quick: { type: "boolean" } } }).values;
const { POSTGRES } = process.env;
if (POSTGRES) {
  const sizes = quick ? [10_000] : [10_000, 50_000, 200_000, 1_000_000];
  await writeTable("bench/postgres.md", await comparePostgres(POSTGRES, sizes), true);
} else {
  installClock();
  const accounts = [];
  for (const leads of [1000, 10_000, ...(quick ? [] : [100_000, 1_000_000])])
    accounts.push(await measureLists(leads));
  const leadLists = accounts.flatMap(({ lists }) => lists);
  const conversationLists = await measureConversations();
  const { writing, counting, rates, costs } = await measureWrites();
  for (const rows of [
    accounts.map(({ size }) => size),
    leadLists,
    conversationLists,
    writing,
    counting,
    rates,
    await measureFirstPages(),
    await measureLargest(),
  ])
    await writeTable("bench/pages.md", rows);
  const pages = pageCosts(accounts.at(-1)?.size.leads ?? 0, [...leadLists, ...conversationLists]);
  await writeTable("deploying.md", [...pages, ...costs]);
  const line = (name: string, list: string, column: "median" | "reading all: R") => {
    const rows = leadLists.filter((row) => row.list === list);
    return { name, points: rows.map((row) => ({ leads: row.leads, units: row[column] })) };
  };
  const svg = plot([
    line("This API, all leads", "none", "median"),
    line("Counting rows by reading them, all leads", "none", "reading all: R"),
    line("This API, one source", "website", "median"),
    line("Counting rows by reading them, one source", "website", "reading all: R"),
  ]);
  if (!quick) await writeFile(join(import.meta.dirname, "../../docs/bench/pages.svg"), svg);
}
