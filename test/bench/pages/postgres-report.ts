import { cpus } from "node:os";
import { number, table } from "../markdown.ts";
import { plot } from "./plot.ts";
import type { comparePostgres } from "./postgres.ts";

/** The page of the documentation and its plot. */
export function postgresReport(compared: Awaited<ReturnType<typeof comparePostgres>>): [string, string] {
  const title = "Milliseconds of a page of 20 leads, on one machine";
  const lines = new Map<string, { leads: number; median: number; worst: number }[]>();
  const add = (line: string, leads: number, ms: number) =>
    lines.set(line, [...(lines.get(line) ?? []), { leads, median: ms, worst: ms }]);
  const all = compared.filter(({ list }) => list === "all");
  for (const { leads, page, counted, postgres } of all) {
    add(`this service, ${page} page and total`, leads, counted);
    add(`Postgres, ${page} page and count(*)`, leads, postgres);
  }
  for (const { leads, page, cursor } of all)
    if (page === "middle") add("Postgres by a cursor, without a total", leads, cursor);
  const rows = compared.map(({ leads, list, page, counted, postgres, cursor }) => [
    ...[number(leads), list, page, number(counted), number(postgres), number(counted / postgres, 2)],
    number(cursor, 2),
  ]);
  const head = ["leads", "list", "page", "this service", "Postgres", "ratio", "cursor"];
  const text = `# Counted pages beside Postgres

Measured by \`POSTGRES=<address> npm run bench:pages\` (${new Date().toISOString().slice(0, 10)}) on ${cpus().length} × ${cpus()[0]?.model}, in milliseconds: each figure is the median of 20 reads in the quietest of ten rounds, in which both were read by turns. Compare only figures of one run. All pages, totals and cursors were compared with the rows in memory.

- **This service**: an HTTP request to the local run, with its gateway, authorizer, rate limit, permission proxy and the embedded DynamoDB.
- **Postgres**: a page by \`LIMIT\` and \`OFFSET\`, then \`count(*)\`: prepared statements over one connection, timed by psql, without any HTTP. A primary key of account and id, and an index of account, source and id, order each list; the table has been vacuumed. \`random_page_cost\` is 1.1 and \`max_parallel_workers_per_gather\` 0, with which it is faster than by default.
- **Ratio**: below 1, this service is faster.
- **Cursor**: the rows after a row, without a total, in Postgres.

![${title}](postgres.svg)

${table(head, rows)}`;
  return [text, plot(lines, title, 0.01, 5)];
}
