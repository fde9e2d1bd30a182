import { escapeText, toText } from "./printed-text.ts";

/**
 * Formats rows as a table: a line with the names of the columns, then a line for each row. An absent value is an empty
 * cell; a column without values is left out. Control characters are escaped.
 *
 * @param rows the cells by the names of their columns
 * @param columns which columns, in this order; by default all
 */
export function formatColumns(
  rows: readonly Readonly<Record<string, unknown>>[],
  columns: readonly string[] = [...new Set(rows.flatMap((row) => Object.keys(row)))],
): string {
  const names = columns.filter((name) => rows.some((row) => toCell(row[name]) !== ""));
  const cells = [names, ...rows.map((row) => names.map((name) => toCell(row[name])))];
  const widths = names.map((_, i) => cells.reduce((most, line) => Math.max(most, line[i]?.length ?? 0), 0));
  const align = (cell: string, i: number) => cell.padEnd(widths[i] ?? 0);
  return cells.map((line) => line.map(align).join("  ").trimEnd()).join("\n");
}

const toCell = (value: unknown) => escapeText(toText(value ?? ""));
