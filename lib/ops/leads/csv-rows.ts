import { isUtf8 } from "node:buffer";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { CsvError, type Options, Parser } from "csv-parse";
import type { FaultCode } from "../../../shared/errors.ts";
import { maxBodyBytes } from "../../../shared/http/json-scan.ts";
import { UserError } from "../../user-error.ts";
import { columns, metadataPrefix, toFields } from "./csv-cells.ts";

/** A fault of a row: its field (`""` for the whole row), a code and the end of a sentence. */
export interface RowFault {
  readonly field: string;
  readonly code: FaultCode | "wrong_columns";
  readonly message: string;
}

/** A row of a file with the number of its first line: its value, or why it cannot be read. */
export type Row =
  | { readonly line: number; readonly value: unknown }
  | { readonly line: number; readonly fault: RowFault };

export const rowFault = (field: string, code: RowFault["code"], message: string): RowFault => ({
  field,
  code,
  message,
});

interface CsvRecord {
  readonly line: number;
  readonly cells: readonly string[];
}

/**
 * Parses a CSV file (RFC 4180, in UTF-8) whose first row names the columns.
 *
 * @throws UserError for an invalid header, or a row whose end cannot be determined
 */
export async function* parseCsv(chunks: AsyncIterable<Buffer>): AsyncGenerator<Row> {
  let header: readonly string[] | undefined;
  for await (const record of parseRecords(chunks)) {
    if (header) yield toRow(header, record);
    else header = parseHeader(record);
  }
  if (!header) throw new UserError("The file is empty: its first row must name the columns.");
}

async function* parseRecords(chunks: AsyncIterable<Buffer>): AsyncGenerator<CsvRecord> {
  let line = 1;
  const parser = new Parser({
    // One character for each byte, so that cells with invalid UTF-8 can be reported.
    encoding: "latin1",
    record_delimiter: ["\r\n", "\n"],
    relax_column_count: true,
    max_record_size: maxBodyBytes,
    // The parser counts a quoted CRLF as two lines.
    on_record(cells: string[]): CsvRecord | undefined {
      const record = { line, cells };
      line += cells.reduce((sum, cell) => sum + cell.split("\n").length - 1, 1);
      return cells.length === 1 && cells[0] === "" ? undefined : record;
    },
    // The types allow `on_record` to return only strings.
  } as Options);
  // The parser, below, throws the errors of the pipeline.
  pipeline(Readable.from(chunks), parser).catch(() => {});
  try {
    yield* parser as AsyncIterable<CsvRecord>;
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new UserError(
      `The row that starts on line ${line} has a misplaced quote or an open one, or more than ${maxBodyBytes} bytes; a cell with quotes is written "like ""this""".`,
    );
  }
}

function parseHeader({ cells: bytes }: CsvRecord): readonly string[] {
  const cells = bytes.map((cell) => decode(cell) ?? cell);
  const isEntry = (cell: string) => cell.startsWith(metadataPrefix) && !cells.includes("metadata");
  const unknown = cells.find((cell) => !isEntry(cell) && !columns.some((column) => column === cell));
  if (unknown !== undefined)
    throw new UserError(
      `Unknown column ${JSON.stringify(unknown)}: the columns are ${columns.join(", ")} or ${metadataPrefix}<name> in place of metadata.`,
    );
  const repeated = cells.find((cell, i) => cells.indexOf(cell) !== i);
  if (repeated !== undefined) throw new UserError(`The column ${repeated} occurs twice.`);
  if (!cells.includes("name") && !cells.includes("externalId"))
    throw new UserError("The column name is missing.");
  return cells;
}

function toRow(header: readonly string[], { line, cells }: CsvRecord): Row {
  if (cells.length !== header.length) {
    const message = `must have ${header.length} cells like the header, but has ${cells.length}`;
    return { line, fault: rowFault("", "wrong_columns", message) };
  }
  const texts = cells.map(decode);
  const invalid = texts.indexOf(undefined);
  if (invalid === -1) return { line, value: toFields(header, texts) };
  return { line, fault: rowFault(`${header[invalid]}`, "invalid_encoding", "must be UTF-8") };
}

/** The text of a cell; undefined if it is not UTF-8. */
function decode(cell: string): string | undefined {
  const bytes = Buffer.from(cell, "latin1");
  return isUtf8(bytes) ? bytes.toString() : undefined;
}
