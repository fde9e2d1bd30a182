import { readFile, writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { join } from "node:path";

/** Formats a number for the reports, with at most `digits` and at least `minimumFractionDigits` digits after its point. */
export const number = (value: number, digits = 1, minimumFractionDigits = 0) =>
  value.toLocaleString("en", { minimumFractionDigits, maximumFractionDigits: digits });

/** The cells of a row, by the names of their columns. */
export type Cells = Readonly<Record<string, string | number>>;

/** A Markdown table: text in the first column, numbers in the others. */
export function table(rows: readonly Cells[]): string {
  const columns = [...new Set(rows.flatMap(Object.keys))];
  const cell = (value: string | number = "") => (typeof value === "number" ? number(value, 2) : value);
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const rule = `|${columns.map((_, i) => (i === 0 ? "---" : "--:")).join("|")}|`;
  return [line(columns), rule, ...rows.map((row) => line(columns.map((name) => cell(row[name]))))].join("\n");
}

/**
 * Prints a table and, unless the run is quick, replaces the table of a page that has the same columns.
 *
 * @param isTimed whether the figures depend on this machine, which is then named below the table
 */
export async function writeTable(page: string, rows: readonly Cells[], isTimed = false): Promise<void> {
  const [date, machine] = [new Date().toISOString().slice(0, 10), `${cpus().length} × ${cpus()[0]?.model}`];
  const text = `${table(rows)}\n${isTimed ? `\nMeasured on ${date} with Node ${process.version}, ${machine}.\n` : ""}`;
  console.log(text);
  if (process.argv.includes("--quick")) return;
  const file = join(import.meta.dirname, "../../docs", page);
  const before = await readFile(file, "utf8");
  const start = before.indexOf(text.slice(0, text.indexOf("\n") + 1));
  if (start < 0) throw new Error(`docs/${page} has no table with these columns.`);
  const after = before.slice(start).replace(/(?:\|.*\n)+(?:\nMeasured on .*\n)?/, () => text);
  await writeFile(file, before.slice(0, start) + after);
}

/** The most that cells of a row may have: units, calls, round trips or bytes. */
export type Limits = Readonly<Record<string, number>>;

/** Fails the run if a measured value exceeds its limit. */
export function check(what: string, cells: Cells, limits: Limits = {}): void {
  for (const [name, most] of Object.entries(limits)) {
    if (Number(cells[name]) <= most) continue;
    console.error(`${what}: ${name} ${cells[name]}, at most ${most}`);
    process.exitCode = 1;
  }
}
