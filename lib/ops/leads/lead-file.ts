import { isAscii, isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { errorCode, UserError } from "../../user-error.ts";
import { type CellOptions, type Header, toFields } from "./csv-cells.ts";
import { type HeaderOptions, readHeader } from "./csv-header.ts";
import { type CsvRecord, parseCsv, parseJsonRows, type RowFault, rowFault } from "./csv-rows.ts";

/** How a file is read. */
export interface FileOptions extends HeaderOptions, CellOptions {
  /** A label of the Encoding Standard, in place of what the file's first bytes tell. */
  readonly encoding?: string;
}

/** A row of a file: its fields, as far as it can be read, and why it cannot be read whole. */
export interface Row {
  readonly line: number;
  readonly value: unknown;
  readonly fault?: RowFault;
}

/** A file whose syntax is valid. */
export interface LeadFile {
  /** The SHA-256 of the file's bytes. */
  readonly digest: Buffer;
  /** The number of rows without the blank ones. */
  readonly count: number;
  readonly blank: number;
  rows(): AsyncGenerator<Row>;
}

/**
 * Reads a file into memory, so that it cannot change meanwhile, and once to its end, to find errors of its syntax before
 * anything is written.
 *
 * @throws UserError when the file cannot be read or its syntax is invalid
 */
export async function openLeadFile(path: string, options: FileOptions): Promise<LeadFile> {
  const ending = /\.(?:csv|tsv|txt|json)$/i.exec(path)?.[0].toLowerCase();
  if (!ending)
    throw new UserError(`${path} must end in .csv, .tsv, .txt or .json. Save a spreadsheet as CSV in UTF-8.`);
  const bytes = await readFile(path).catch((error) => {
    throw new UserError(`${path} cannot be read (${errorCode(error)}).`);
  });
  const encoding = findEncoding(path, bytes, options.encoding);
  const texts = () => decode(path, bytes, encoding);
  const records = () => (ending === ".json" ? parseJsonRows(texts) : parseCsv(texts));
  let [count, blank] = [0, 0];
  for await (const row of readRows(records(), options, () => (blank += 1))) if (row) count += 1;
  return {
    digest: createHash("sha256").update(bytes).digest(),
    count,
    blank,
    rows: () => readRows(records(), options),
  };
}

/** @throws UserError if the bytes are not text in the encoding that they, or the option, tell */
function findEncoding(path: string, bytes: Buffer, named?: string): string {
  const mark = bytes.subarray(0, 2).toString("hex");
  if (named !== undefined) {
    if (isUtf8(bytes) && !isAscii(bytes) && new TextDecoder(named).encoding !== "utf-8")
      throw new UserError(`${path} is in UTF-8: leave out --encoding.`);
    return named;
  }
  if (mark === "fffe" || mark.endsWith("00")) return "utf-16le";
  if (mark === "feff") return "utf-16be";
  return "utf-8";
}

/** The parts of a text. Byte order marks are left out. @throws UserError */
function* decode(path: string, bytes: Buffer, encoding: string): Generator<string> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  const size = 1024 * 1024;
  try {
    for (let start = 0; start < bytes.length; start += size)
      yield decoder.decode(bytes.subarray(start, start + size), { stream: true });
    yield decoder.decode();
  } catch {
    throw new UserError(
      `${path} is not ${encoding} text. Save it as CSV in UTF-8, or tell its encoding, such as --encoding windows-1252.`,
    );
  }
}

/** Reads the rows of a table whose first row names the columns. @throws UserError for an invalid header */
export async function* readRows(
  records: AsyncIterable<CsvRecord> | Iterable<CsvRecord>,
  options: FileOptions,
  onBlank = () => {},
): AsyncGenerator<Row> {
  let read: ((record: CsvRecord) => Row) | undefined;
  for await (const record of records) {
    if (record.cells.every((cell) => cell.trim() === "")) onBlank();
    else if (read) yield read(record);
    else read = rowReader(readHeader(record.cells, options), record.cells.length, options);
  }
  if (!read) throw new UserError("The file is empty: its first row must name the columns.");
}

const rowReader =
  (header: Header, width: number, options: CellOptions) =>
  ({ line, cells }: CsvRecord): Row => {
    const value = toFields(header, cells, options);
    if (cells.length === width) return { line, value };
    const message = `must have ${width} cells like the header, but has ${cells.length}`;
    return { line, value, fault: rowFault("", "wrong_columns", message) };
  };
