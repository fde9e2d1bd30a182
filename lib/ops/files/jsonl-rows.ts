import { isUtf8 } from "node:buffer";
import { limitMessages, maxBodyBytes, scanJson } from "../../../shared/http/json-scan.ts";
import { UserError } from "../../errors.ts";
import { type Row, rowFault } from "./row.ts";

const newline = 0x0a;

/**
 * Parses a file with a JSON object on each line, in UTF-8.
 *
 * @throws UserError for an empty file
 */
export async function* parseJsonLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Row> {
  let line = 0;
  let empty = true;
  for await (const bytes of splitLines(chunks)) {
    line += 1;
    if (bytes && isBlank(bytes)) continue;
    empty = false;
    yield bytes ? toRow(line, bytes) : { line, fault: tooLong };
  }
  if (empty) throw new UserError("The file is empty.");
}

const tooLong = rowFault("", "too_large", `must be at most ${maxBodyBytes} bytes`);

/** The lines without their line feeds; undefined for a line that is too long, which is not kept in memory. */
async function* splitLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer | undefined> {
  let parts: Buffer[] = [];
  let length = 0;
  const take = (part: Buffer) => {
    length += part.length;
    if (length > maxBodyBytes) parts = [];
    else parts.push(part);
  };
  const endLine = () => {
    const line = length > maxBodyBytes ? undefined : Buffer.concat(parts);
    [parts, length] = [[], 0];
    return line;
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      take(chunk.subarray(start, end));
      yield endLine();
      start = end + 1;
    }
    take(chunk.subarray(start));
  }
  if (length > 0) yield endLine();
}

const isBlank = (bytes: Buffer) => bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);

/** Parses a line as the API parses a body. */
function toRow(line: number, bytes: Buffer): Row {
  if (!isUtf8(bytes)) return { line, fault: rowFault("", "invalid_encoding", "must be UTF-8") };
  const text = bytes.toString();
  try {
    const value: unknown = JSON.parse(text);
    const {
      exceeded,
      duplicates: [repeated],
    } = scanJson(text);
    if (exceeded) return { line, fault: rowFault("", exceeded, limitMessages[exceeded]) };
    if (repeated === undefined) return { line, value };
    return { line, fault: rowFault(repeated, "duplicate_key", "must be given once") };
  } catch {
    return { line, fault: rowFault("", "invalid_json", "must be valid JSON") };
  }
}
