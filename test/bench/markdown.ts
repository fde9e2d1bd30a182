/** Formats a number for the reports. */
export const number = (value: number, digits = 1) =>
  value.toLocaleString("en", { maximumFractionDigits: digits });

/** One row of a table. */
export type Row = readonly (string | number)[];

/** A Markdown table: text in the first column, numbers in the others. */
export function table(head: Row, rows: readonly Row[]): string {
  const line = (cells: Row) => `| ${cells.map(String).join(" | ")} |`;
  const rule = `|${head.map((_, i) => (i === 0 ? "---" : "--:")).join("|")}|`;
  return [line(head), rule, ...rows.map(line)].join("\n");
}
