import { isAscii, isUtf8 } from "node:buffer";
import { readFile } from "node:fs/promises";
import { errorCode, UserError } from "../../user-error.ts";
import { type CellOptions, type Header, toFields } from "./csv-cells.ts";
import { type HeaderOptions, readHeader } from "./csv-header.ts";
import { type CsvRecord, parseCsv, parseJsonRows, type RowFault, rowFault } from "./parse-csv.ts";

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

export type LeadFile = Awaited<ReturnType<typeof openLeadFile>>;

/**
 * Reads a file into memory, so that it cannot change meanwhile, and once to its end, to find errors of its syntax before
 * anything is written.
 *
 * @throws UserError when the file cannot be read or its syntax is invalid
 */
export async function openLeadFile(path: string, options: FileOptions) {
  const ending = /\.(?:csv|tsv|txt|json)$/i.exec(path)?.[0].toLowerCase();
  if (!ending)
    throw new UserError(`${path} must end in .csv, .tsv, .txt or .json. Save a spreadsheet as CSV in UTF-8.`);
  const bytes = await readFile(path).catch((error) => {
    throw new UserError(`${path} cannot be read (${errorCode(error)}).`);
  });
  const encoding = findEncoding(path, bytes, options.encoding);
  const texts = () => decodeText(path, bytes, encoding);
  const records = () => (ending === ".json" ? parseJsonRows(texts) : parseCsv(texts));
  let count = 0;
  for await (const _ of readLeadRows(records(), options)) count += 1;
  return { count, rows: () => readLeadRows(records(), options) };
}

/** @throws UserError if the bytes are not text in the encoding that they, or the option, tell */
function findEncoding(path: string, bytes: Buffer, named?: string): string {
  if (named && !/^utf-?8$/i.test(named) && isUtf8(bytes) && !isAscii(bytes))
    throw new UserError(`${path} is in UTF-8: leave out --encoding.`);
  const mark = bytes.subarray(0, 2).toString("hex");
  if (mark === "feff") return "utf-16be";
  // A first character with a zero byte has no byte order mark.
  return named ?? (mark === "fffe" || mark.endsWith("00") ? "utf-16le" : "utf-8");
}

/** The parts of a text. Byte order marks are left out. @throws UserError */
function* decodeText(path: string, bytes: Buffer, encoding: string): Generator<string> {
  const size = 1024 * 1024;
  try {
    const decoder = new TextDecoder(encoding, { fatal: true });
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
export async function* readLeadRows(
  records: AsyncIterable<CsvRecord> | Iterable<CsvRecord>,
  options: FileOptions,
): AsyncGenerator<Row> {
  let header: Header | undefined;
  let width = 0;
  for await (const { line, cells } of records) {
    if (cells.every((cell) => cell.trim() === "")) continue;
    if (header) {
      const value = toFields(header, cells, options);
      const message = `must have ${width} cells like the header, but has ${cells.length}`;
      yield cells.length === width
        ? { line, value }
        : { line, value, fault: rowFault("", "wrong_columns", message) };
    } else {
      header = readHeader(cells, options);
      width = cells.length;
    }
  }
  if (!header) throw new UserError("The file is empty: its first row must name the columns.");
}
