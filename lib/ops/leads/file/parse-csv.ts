import { CsvError, type Options, parse } from "csv-parse/sync";
import { isRecord, parseJson } from "../../../../shared/json.ts";
import { UserError } from "../../../user-error.ts";
import { unescapeCell } from "./csv-cells.ts";
import { isHeader } from "./csv-header.ts";
import type { FileOptions } from "./file-options.ts";
import type { Cell, CsvRecord } from "./file-parts.ts";

const separators = [",", ";", "\t", "|"];

const lineBreak = /\r\n|\r|\n/;

/**
 * Parses CSV (RFC 4180), from its header. The separator is named by a `sep=` line before the header, or found in the header.
 *
 * @throws UserError for a row whose end cannot be determined
 */
export function parseCsv(text: string, fileOptions: FileOptions): CsvRecord[] {
  const { separator, start, skipped } = findHeader(text, fileOptions);
  let line = text.slice(0, start).split(lineBreak).length;
  const options = {
    delimiter: separator,
    record_delimiter: ["\r\n", "\n", "\r"],
    relax_column_count: true,
    // The parser counts a quoted CRLF as two lines.
    on_record(cells: string[]): CsvRecord | undefined {
      const filled = cells.flatMap((cell, i): Cell[] => (cell === "" ? [] : [[i, unescapeCell(cell)]]));
      const record = { line, width: cells.length, cells: filled, skipped };
      line += cells.reduce((sum, cell) => sum + cell.split(lineBreak).length - 1, 1);
      return record;
    },
    // The types allow `on_record` to return only strings.
  } as Options;
  try {
    return parse(text.slice(start), options) as unknown as CsvRecord[];
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new UserError(
      `The row that starts on line ${line} has a misplaced or unclosed quote; a cell with quotes is written "like ""this""".`,
    );
  }
}

/**
 * Finds the start of the header, and its separator. Of the first ten lines, the header is the first that names two columns
 * of leads, if it has more cells than each line before it. Otherwise it is the first line, with its most frequent separator.
 */
function findHeader(head: string, options: FileOptions) {
  const [line = "", named] = /^sep=(.)(?:\r\n|\r|\n)/i.exec(head) ?? [];
  if (named) return { separator: named, start: line.length, skipped: [] };
  // Separators between quotes do not count.
  const text = head.replace(/"[^"]*"/g, (quoted) => quoted.replace(/[",;\t|\r\n]/g, " "));
  const lines = text.split(/(?<=\n|\r(?!\n))/, 10);
  const startOf = (index: number) => lines.slice(0, index).join("").length;
  const filled = [...lines.keys()].filter((index) => /[^\s,;|]/.test(lines[index] ?? ""));
  const split = (index: number, separator: string) => lines[index]?.split(separator) ?? [];
  const widthOf = (separator: string) => split(filled[0] ?? 0, separator).length;
  // Only filled cells count: spreadsheets write as many separators on each line as in the header.
  const textsOf = (index: number, separator: string) =>
    split(index, separator).filter((text) => text.trim() !== "").length;
  const [frequent] = separators.toSorted((a, b) => widthOf(b) - widthOf(a));
  const first = { separator: frequent, start: 0, skipped: [] };
  for (const index of filled)
    for (const separator of separators) {
      const names = split(index, separator);
      if (!isHeader(names, options)) continue;
      const before = filled.filter((each) => each < index);
      if (before.some((each) => textsOf(each, separator) >= textsOf(index, separator))) return first;
      const skipped = before.map((each) => head.slice(0, startOf(each)).split(lineBreak).length);
      return { separator, start: startOf(index), skipped };
    }
  return first;
}

/**
 * Parses a JSON array of objects, or one object per line, into the rows of a table, whose first row has the names. From an
 * entry of a file of rejected rows, it takes only the row.
 */
export function parseJsonRows(text: string, isLines: boolean): CsvRecord[] {
  const found = isLines ? text.split(lineBreak).flatMap(parseLine) : parseJson(text);
  if (!Array.isArray(found) || !found.every(isRecord))
    throw new UserError("A .json file must have an array of objects.");
  const objects = found.map((each) => (Array.isArray(each.errors) && isRecord(each.row) ? each.row : each));
  const columns = new Map<string, number>();
  for (const fields of objects)
    for (const name of Object.keys(fields)) if (!columns.has(name)) columns.set(name, columns.size);
  const width = columns.size;
  const rows = objects.map((fields, i) => {
    const cells = Object.entries(fields).map(
      ([name, value]): Cell => [columns.get(name) ?? 0, jsonToCell(value)],
    );
    return { line: i + 1, width, cells: cells.filter(([, cell]) => cell !== "") };
  });
  return [{ line: 0, width, cells: Array.from(columns, ([name, i]) => [i, name]) }, ...rows];
}

function parseLine(line: string, index: number): object | [] {
  if (line.trim() === "") return [];
  const found = parseJson(line);
  if (isRecord(found)) return found;
  throw new UserError(`A .jsonl file must have an object on each line: line ${index + 1} has none.`);
}

/** @throws UserError for a number that cannot be read exactly */
function jsonToCell(value: unknown): string {
  if (Number.isInteger(value) && !Number.isSafeInteger(value))
    throw new UserError(`The number ${value} is too large to be read exactly: write it as text, in quotes.`);
  return value === null ? "" : typeof value === "string" ? value : JSON.stringify(value);
}
