import { type spread, sum } from "../../support/cases/statistics.ts";
import { number, type Row, table } from "../markdown.ts";
import { prices } from "./prices.ts";

/** The most that something may cost: units, calls, round trips or bytes. A run that exceeds a limit fails. */
const limits = {
  "whole list": { median: 11, worst: 17, trips: 4 },
  "list by status": { median: 7, worst: 11, trips: 4 },
  "list by source": { median: 11, worst: 17, trips: 4 },
  "any list, 100 leads in the tail": { trips: 5 },
  "tree, bytes": { root: 4096, "largest node": 2048 },
  window: { median: 11, worst: 17, calls: 8, trips: 6 },
  conversations: { worst: 17, trips: 4 },
  "conversations, oldest first": { worst: 17, trips: 4 },
  // A list by a change ends after 2,000 rows, of 308 bytes in the index: each has the beginning of its last message.
  "conversations by activity": { worst: 80, trips: 1 },
  "a lead of 1,000 in 5 s": { "counting: W": 0.5 },
  "a lead, up to 200 sources": { "counting: W": 1.4 },
  "a lead, 1,000 sources": { "counting: W": 1.4 },
  "A message that joins a conversation": { "counting: W": 0, "counting: R": 0 },
} as const;

type Limits = typeof limits;

const twoDigits = { minimumFractionDigits: 2, maximumFractionDigits: 2 };

/** Write units of the rate limit in each request, at 6,000 a minute on 20 environments. */
const permitUnits = 0.12;

/** Read units of pages. */
type Units = ReturnType<typeof spread>;

/** The figures of a run: its tables, the points of its plot, and the largest value of everything that has a limit. */
export class Report {
  readonly #sections: string[] = [];
  readonly #requests: Row[] = [];
  readonly #checks = new Map<string, { name: string; most: number; measured: number }[]>();
  /** The points of each line of the plot: what pages cost by the number of leads. */
  readonly lines = new Map<string, (Units & { readonly leads: number })[]>();

  /** @param rows the buckets of each row by the heads of their columns */
  section(title: string, text: string, rows: readonly Readonly<Record<string, string | number>>[]): void {
    const head = [...new Set(rows.flatMap(Object.keys))];
    const buckets = rows.map((row) =>
      head.map((name) => {
        const value = row[name] ?? "";
        return typeof value === "number" ? number(value, 2) : value;
      }),
    );
    this.#sections.push(`## ${title}`, text, table(head, buckets));
  }

  /** Adds a request to the table of what a million cost: its units, with those of counting, and its events. */
  request(what: string, { W, R }: { readonly W: number; readonly R: number }, events = 0): void {
    const fixed = prices.gateway + prices.call + 0.02 * prices.second + prices.log;
    const parts = [prices.write * (W + permitUnits), prices.read * R, prices.event * events];
    const dollars = [...parts, fixed + sum(parts)].map((price) => price.toLocaleString("en", twoDigits));
    const units = [number(W + permitUnits, 2), number(R, 2), events];
    this.#requests.push([what, ...units, ...dollars.slice(0, -1), `**${dollars.at(-1)}**`]);
  }

  /** Compares values with their limits. */
  check<K extends keyof Limits>(what: K, values: Readonly<Record<keyof Limits[K], number>>): void {
    const before = this.#checks.get(what) ?? [];
    const checks = Object.entries<number>(limits[what]).map(([name, most], n) => {
      const largest = before[n]?.measured ?? Number.NEGATIVE_INFINITY;
      return { name, most, measured: Math.max(values[name as keyof Limits[K]], largest) };
    });
    this.#checks.set(what, checks);
  }

  point(line: string, leads: number, cost: Units): void {
    this.lines.set(line, [...(this.lines.get(line) ?? []), { leads, ...cost }]);
  }

  /** What exceeds its limit. */
  get excesses(): string[] {
    return [...this.#checks].flatMap(([what, checks]) =>
      checks
        .filter(({ most, measured }) => !(measured <= most))
        .map(
          ({ name, most, measured }) => `${what}: ${name} ${number(measured, 2)}, at most ${number(most)}`,
        ),
    );
  }

  /** The table of what a million requests cost. */
  get costs(): string {
    return table(["Request", "W", "R", "E", "Writes", "Reads", "Events", "**A million**"], this.#requests);
  }

  /** The page of the documentation. */
  text(): string {
    const date = new Date().toISOString().slice(0, 10);
    return [
      "# What counted pages cost",
      `Measured by \`npm run bench:pages\` (${date}) on a table in memory that counts units as DynamoDB does; a test compares it with an engine. Its clock is virtual, so the figures do not depend on the machine. Pages have 20 rows: 100 random ones, and the first, the middle and the last. Each is read by an execution environment that remembers nothing, and was compared with the rows in memory. \`a / b\` means median of the random pages / worst of all. R and W are read and write units. A run that exceeds a limit fails (\`test/bench/pages/report.ts\`). The same run writes [what a million requests cost](../deploying.md#what-a-million-requests-cost).`,
      "![Read units of a page over the size of the account](pages.svg)",
      ...this.#sections,
    ].join("\n\n");
  }
}

/** A median and the worst. */
export const both = ({ median, worst }: Units) => `${number(median)} / ${number(worst)}`;
