import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { CsvError, type Options, Parser } from "csv-parse";
import type { FaultCode } from "../../../shared/errors.ts";
import { maxBodyBytes } from "../../../shared/http/json-scan.ts";
import { parseJson } from "../../json.ts";
import { UserError } from "../../user-error.ts";

/** A fault of a row: its field (`""` for the whole row), a code and the end of a sentence. */
export interface RowFault {
  readonly field: string;
  readonly code: FaultCode | "wrong_columns";
  readonly message: string;
}

export const rowFault = (field: string, code: RowFault["code"], message: string): RowFault => ({
  field,
  code,
  message,
});

/** A row of a file, with the number of its first line; in JSON, its number in the array. */
export interface CsvRecord {
  readonly line: number;
  readonly cells: readonly string[];
}

/**
 * Parses CSV (RFC 4180). A `sep=` line tells what separates columns, or else the first row: the most frequent of `,`, `;` and
 * tabs.
 *
 * @param texts gives the file's text in parts, of which the first has the whole first row
 * @throws UserError for a row whose end cannot be determined
 */
export async function* parseCsv(texts: () => Iterable<string>): AsyncGenerator<CsvRecord> {
  const [head = ""] = texts();
  const separator = /^sep=(.)[\r\n]/i.exec(head)?.[1];
  let line = separator === undefined ? 1 : 2;
  const parser = new Parser({
    delimiter: separator ?? findSeparator(head),
    from_line: line,
    record_delimiter: ["\r\n", "\n", "\r"],
    relax_column_count: true,
    max_record_size: maxBodyBytes,
    // The parser counts a quoted CRLF as two lines.
    on_record(cells: string[]): CsvRecord | undefined {
      const record = { line, cells };
      line += cells.reduce((sum, cell) => sum + cell.split(/\r\n|\r|\n/).length - 1, 1);
      return record;
    },
    // The types allow `on_record` to return only strings.
  } as Options);
  // The parser, below, throws the errors of the pipeline.
  pipeline(Readable.from(texts()), parser).catch(() => {});
  try {
    yield* parser as AsyncIterable<CsvRecord>;
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new UserError(
      `The row that starts on line ${line} has a misplaced quote or an open one, or more than ${maxBodyBytes} bytes; a cell with quotes is written "like ""this""".`,
    );
  }
}

function findSeparator(head: string): string {
  const [row = ""] = head
    .trimStart()
    .replace(/"[^"]*"/g, "")
    .split(/[\r\n]/, 1);
  const count = (separator: string) => row.split(separator).length;
  return [",", ";", "\t"].reduce((best, each) => (count(each) > count(best) ? each : best));
}

/** Parses a JSON array of objects into the rows of a table, of which the first has the names. */
export function* parseJsonRows(texts: () => Iterable<string>): Generator<CsvRecord> {
  const objects = parseJson([...texts()].join(""));
  if (!Array.isArray(objects) || !objects.every((each) => Object(each) === each && !Array.isArray(each)))
    throw new UserError("A .json file must have an array of objects.");
  const names = new Set<string>();
  for (const each of objects) for (const name of Object.keys(each)) names.add(name);
  yield { line: 0, cells: [...names] };
  for (const [i, each] of objects.entries())
    yield { line: i + 1, cells: Array.from(names, (name) => jsonToCell(each[name])) };
}

const jsonToCell = (value: unknown = null) =>
  value === null ? "" : typeof value === "string" ? value : JSON.stringify(value);
