import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { CsvError, type Options, Parser } from "csv-parse";
import { UserError } from "../../errors.ts";
import { columns, toFields } from "./csv-cells.ts";
import { maxRowBytes, type Row, rowFault } from "./row.ts";

interface CsvRecord {
  readonly line: number;
  readonly cells: readonly string[];
}

/**
 * The rows of a CSV file (RFC 4180, in UTF-8) whose first row names the columns.
 *
 * @throws UserError for a header that is no good, or where it cannot be told where rows begin
 */
export async function* csvRows(chunks: AsyncIterable<Buffer>): AsyncGenerator<Row> {
  let header: readonly string[] | undefined;
  for await (const record of csvRecords(chunks)) {
    if (header) yield toRow(header, record);
    else header = parseHeader(record);
  }
  if (!header) throw new UserError("The file is empty: its first row must name the columns.");
}

async function* csvRecords(chunks: AsyncIterable<Buffer>): AsyncGenerator<CsvRecord> {
  let line = 1;
  const parser = new Parser({
    // A character for each byte: so a cell that is no UTF-8 can be told.
    encoding: "latin1",
    record_delimiter: ["\r\n", "\n"],
    relax_column_count: true,
    max_record_size: maxRowBytes,
    // The parser counts a quoted CRLF as two lines.
    on_record(cells: string[]): CsvRecord | undefined {
      const record = { line, cells };
      line += cells.reduce((sum, cell) => sum + cell.split("\n").length - 1, 1);
      return cells.length === 1 && cells[0] === "" ? undefined : record;
    },
  } as Options);
  // What fails on the way is thrown by the parser, below.
  pipeline(Readable.from(chunks), parser).catch(() => {});
  try {
    yield* parser;
  } catch (error) {
    throw error instanceof CsvError ? brokenAt(line, error) : error;
  }
}

function brokenAt(line: number, { code }: CsvError): UserError {
  const reason =
    code === "CSV_MAX_RECORD_SIZE"
      ? `is over ${maxRowBytes} bytes; is a quote not closed?`
      : code === "CSV_QUOTE_NOT_CLOSED"
        ? "has a quote that is not closed."
        : 'has a quote out of place; a cell with quotes is written "like ""this""".';
  return new UserError(`The row that begins on line ${line} ${reason}`);
}

function parseHeader({ cells }: CsvRecord): readonly string[] {
  const known = new Set<string>(columns);
  const unknown = cells.find((cell) => !known.has(cell));
  const names = columns.join(", ");
  if (unknown !== undefined)
    throw new UserError(`There is no column ${JSON.stringify(unknown)}: the columns are ${names}.`);
  const twice = cells.find((cell, i) => cells.indexOf(cell) !== i);
  if (twice !== undefined) throw new UserError(`The column ${twice} is there twice.`);
  if (!cells.includes("name")) throw new UserError("The column name is missing.");
  return cells;
}

function toRow(header: readonly string[], { line, cells }: CsvRecord): Row {
  if (cells.length !== header.length) {
    const message = `must have as many cells as the header, ${header.length}; it has ${cells.length}`;
    return { line, fault: rowFault("wrong_columns", message) };
  }
  const texts: string[] = [];
  for (const [i, cell] of cells.entries()) {
    const text = decoded(cell);
    if (text === undefined) {
      return { line, fault: { field: `${header[i]}`, code: "invalid_encoding", message: "must be UTF-8" } };
    }
    texts.push(text);
  }
  return { line, value: toFields(header, texts) };
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decoded(bytes: string): string | undefined {
  try {
    return utf8.decode(Buffer.from(bytes, "latin1"));
  } catch {
    return undefined;
  }
}
