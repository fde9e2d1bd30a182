import { constants, isAscii, isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { errorCode, UserError } from "../../../user-error.ts";
import { columns } from "./column-names.ts";
import { toFields } from "./csv-cells.ts";
import { type Header, readHeader } from "./csv-header.ts";
import type { FileOptions } from "./file-options.ts";
import { type Cell, type CsvRecord, type Row, rowFault } from "./file-parts.ts";
import { parseCsv, parseJsonRows } from "./parse-csv.ts";

export type LeadFile = Awaited<ReturnType<typeof openLeadFile>>;

/**
 * Reads a file into memory, so that it cannot change during an import. Syntax errors are found before anything is written.
 *
 * @throws UserError when the file cannot be read or its syntax is invalid
 */
export async function openLeadFile(path: string, options: FileOptions) {
  const bytes = await readFile(path).catch((error) => {
    throw new UserError(`${path} cannot be read (${errorCode(error)}).`);
  });
  if (bytes.length > constants.MAX_STRING_LENGTH)
    throw new UserError(`${path} has more than ${constants.MAX_STRING_LENGTH} bytes: split it.`);
  const text = decodeText(path, bytes, options.encoding);
  const all = /\.jsonl?$/i.test(path) ? parseJsonRows(text, /l$/i.test(path)) : parseCsv(text, options);
  const [first, ...records] = all.filter(({ cells }) => cells.some(([, cell]) => cell.trim() !== ""));
  if (!first) throw new UserError("The file is empty: its first row must name the columns.");
  const filled = new Set<number>();
  for (const { cells } of records) for (const [index] of cells) filled.add(index);
  const header = readHeader(first, filled, options);
  return { count: records.length, header, rows: () => readLeadRows(records, header, options) };
}

/** The text of a file, without its byte order mark. @param named its encoding; by default, its first bytes tell it */
function decodeText(path: string, bytes: Buffer, named?: string): string {
  if (named && !/^utf-?8$/i.test(named) && isUtf8(bytes) && !isAscii(bytes))
    throw new UserError(`${path} is in UTF-8: leave out --encoding.`);
  const mark = bytes.subarray(0, 2).toString("hex");
  // Without a byte order mark, a zero byte after a first ASCII character also shows UTF-16LE.
  const found = mark === "fffe" || mark.endsWith("00") ? "utf-16le" : "utf-8";
  const encoding = mark === "feff" ? "utf-16be" : (named ?? found);
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw new UserError(
      `${path} is not ${encoding} text. Save it as CSV in UTF-8, or name its encoding, such as --encoding windows-1252.`,
    );
  }
}

/** Other programs put a quote before a number that must stay text. */
const plainCell = (cell: string) => cell.trim().replace(/^'(?=[\d+][\d\s()-]*$)/, "");

function* readLeadRows(records: readonly CsvRecord[], header: Header, options: FileOptions): Generator<Row> {
  const { names } = header;
  // An export contains texts as they are stored.
  const isExport = isDeepStrictEqual(names, columns);
  const equals = new Map<string, number>();
  for (const { line, width, cells } of records) {
    const sha256 = hashRow(names, cells, equals);
    if (width !== names.length) {
      const message = `must have ${names.length} cells like the header, but has ${width}`;
      // Only a person can tell which cell belongs to which column.
      const value = { cells: cells.map(([, cell]) => cell) };
      yield { line, value, sha256, fault: rowFault("", "wrong_columns", message) };
      continue;
    }
    const read = isExport ? cells : cells.map(([index, cell]): Cell => [index, plainCell(cell)]);
    yield { line, value: toFields(header, read, options), sha256 };
  }
}

function hashRow(names: readonly string[], cells: readonly Cell[], equals: Map<string, number>): string {
  const parts = cells.map(([index, cell]) => JSON.stringify([names[index], cell])).sort();
  const content = createHash("sha256").update(parts.join()).digest("base64");
  const before = equals.get(content) ?? 0;
  equals.set(content, before + 1);
  return createHash("sha256").update(`${content}#${before}`).digest("hex");
}
