import { cpus } from "node:os";
import { number, table } from "../markdown.ts";
import { plot } from "../plot.ts";
import type { comparePostgres } from "./compare.ts";

/** The page of the documentation and its plot. */
export function postgresReport(compared: Awaited<ReturnType<typeof comparePostgres>>): [string, string] {
  const title = "Milliseconds of a page of 20 leads, on one machine";
  const lines = new Map<string, { leads: number; median: number; worst: number }[]>();
  const add = (line: string, leads: number, ms: number) =>
    lines.set(line, [...(lines.get(line) ?? []), { leads, median: ms, worst: ms }]);
  const all = compared.filter(({ list }) => list === "all");
  for (const { leads, page, service, postgres } of all) {
    add(`This service, ${page} page and total`, leads, service);
    add(`Postgres, ${page} page and count(*)`, leads, postgres);
  }
  for (const { leads, page, cursor } of all)
    if (page === "middle") add("Postgres by a cursor, without a total", leads, cursor);
  const rows = compared.map(({ leads, list, page, service, postgres, cursor }) => [
    ...[number(leads), list, page, number(service), number(postgres), number(service / postgres, 2)],
    number(cursor),
  ]);
  const head = ["leads", "list", "page", "this service", "Postgres", "ratio", "cursor"];
  const text = `# Counted pages beside Postgres

Measured by \`POSTGRES=<address> npm run bench:pages\` (${new Date().toISOString().slice(0, 10)}) on ${cpus().length} × ${cpus()[0]?.model}, in milliseconds: each figure is the median of 20 requests in the quietest of ten rounds, in which all were read by turns. Compare only figures of one run. Every body was compared with the rows in memory.

**Both are behind one HTTP server**, a Node.js process beside its client and its database on one machine, and respond with the same JSON:

- **This service**: the handler \`list-leads\` on the embedded DynamoDB, with up to five calls for a page, four of them one after another. It also counts the request for the rate limit. The result of \`authorize\` is kept, as API Gateway keeps it.
- **Postgres**: a query for the API key, then \`LIMIT\` and \`OFFSET\` beside \`count(*)\`, over a pool of ten connections with prepared statements (\`pg\`). A primary key of account and id, and an index of account, source and id, order each list; the tables have been vacuumed. \`random_page_cost\` is 1.1 and \`max_parallel_workers_per_gather\` 0, because the client and the server use the other cores.
- **Cursor**: the rows after a row, without a total, from Postgres through the same server.

![${title}](postgres.svg)

${table(head, rows)}`;
  return [text, plot(lines, title, 0.1, 4)];
}
