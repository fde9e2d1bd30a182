import { number, table } from "../markdown.ts";
import type { ListCost } from "./read-list.ts";

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
  "conversations by activity": { worst: 60, trips: 1 },
  "a lead of 1,000 in 5 s": { "counting: W": 0.5 },
  "a lead, up to 200 sources": { "counting: W": 1.4 },
  "a lead, 1,000 sources": { "counting: W": 1.4 },
  "a message that joins a conversation": { "counting: W": 0, "counting: R": 0 },
  // A run that exceeds an aim does not fail.
  "whole list (aim)": { median: 8, worst: 12 },
  "window (aim)": { trips: 4 },
  "a status change (aim)": { "counting: W": 3, "counting: R": 8 },
} as const;

type Limits = typeof limits;

/** Read units of pages. */
type Units = Pick<ListCost, "median" | "worst">;

/** The figures of a run: its tables, the points of its plot, and the largest value of everything that has a limit. */
export class Report {
  readonly #sections: string[] = [];
  readonly #checks = new Map<string, { readonly most: number; readonly measured: number }>();
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

  /** Compares values with their limits. */
  check<K extends keyof Limits>(what: K, values: Readonly<Record<keyof Limits[K], number>>): void {
    for (const [name, most] of Object.entries<number>(limits[what])) {
      const key = `${what}: ${name}`;
      const before = this.#checks.get(key)?.measured ?? Number.NEGATIVE_INFINITY;
      const measured = Math.max(values[name as keyof Limits[K]], before);
      this.#checks.set(key, { most, measured });
    }
  }

  point(line: string, leads: number, cost: Units): void {
    this.lines.set(line, [...(this.lines.get(line) ?? []), { leads, ...cost }]);
  }

  /** Whether no value exceeds its limit. */
  get holds(): boolean {
    return [...this.#checks].every(([what, { most, measured }]) => measured <= most || isAim(what));
  }

  /** The page of the documentation. */
  text(): string {
    const date = new Date().toISOString().slice(0, 10);
    return [
      "# What counted pages cost",
      `Measured by \`npm run bench:pages\` (${date}) on a table in memory that counts units as DynamoDB does; a test compares it with an engine. Its clock is virtual, so the figures do not depend on the machine. Pages have 20 rows: 100 random ones, and the first, the middle and the last. Each is read by an execution environment that remembers nothing, and was compared with the rows in memory. \`a / b\` means median of the random pages / worst of all.`,
      "![Read units of a page over the size of the account](pages.svg)",
      "## Limits",
      "The largest value of all accounts.",
      table(
        ["", "at most", "measured", ""],
        [...this.#checks].map(([what, { most, measured }]) => [
          ...[what, number(most), number(measured, 2)],
          measured <= most ? "holds" : isAim(what) ? "missed" : "**does not hold**",
        ]),
      ),
      ...this.#sections,
    ].join("\n\n");
  }
}

const isAim = (what: string) => what.includes("(aim)");

/** A median and the worst. */
export const both = ({ median, worst }: Units) => `${number(median)} / ${number(worst)}`;
