import { readFileSync } from "node:fs";
import { join } from "node:path";

const page = readFileSync(join(import.meta.dirname, "../../docs/operations.md"), "utf8");

const row =
  /^\| \[(?<name>[\w-]+)\]\(#(?<section>[\w-]+)\) \| (?<severity>wake|look) \| (?<operator>[≥<]) (?<threshold>[\d.]+)(?: %| days)?, (?<breaching>\d) of (?<periods>\d) × (?<length>\d+) (?<unit>min|h) \| (?<means>[^|]+) \| (?<first>[^|]+) \|/gm;

/** An alarm, as the table in docs/operations.md has it: nothing else says when it is raised, and what it means. */
interface RunbookRow {
  /** The anchor of its section. */
  readonly section: string;
  /** What wakes somebody harms callers, and no caller can cause it alone. The rest is looked at by day. */
  readonly severity: "wake" | "look";
  readonly threshold: number;
  /** Whether the metric must always have data: lower values than the threshold breach, and missing ones. */
  readonly required: boolean;
  /** How many of the last periods must breach. */
  readonly breaching: number;
  readonly periods: number;
  readonly minutes: number;
  readonly description: string;
}

/** The alarms of the runbook by their names. */
export const runbookRows: ReadonlyMap<string, RunbookRow> = new Map(
  [...page.matchAll(row)].map(({ groups = {} }) => [
    String(groups.name),
    {
      section: String(groups.section),
      severity: groups.severity === "wake" ? "wake" : "look",
      threshold: Number(groups.threshold),
      required: groups.operator === "<",
      breaching: Number(groups.breaching),
      periods: Number(groups.periods),
      minutes: Number(groups.length) * (groups.unit === "h" ? 60 : 1),
      description: `${groups.means} First: ${groups.first}`,
    },
  ]),
);
