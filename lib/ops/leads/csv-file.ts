import { createHash, type Hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { extname } from "node:path";
import { errorCode, UserError } from "../../user-error.ts";
import { parseCsv, type Row } from "./csv-rows.ts";

/** A CSV file whose syntax is valid. */
export interface CsvFile {
  /** The SHA-256 of the file's bytes. */
  readonly digest: Buffer;
  /** The number of rows. */
  readonly count: number;
  /** Reads the rows. @throws UserError at the end if the file has changed since it was opened */
  rows(): AsyncGenerator<Row>;
}

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * Reads a file once, for its digest and to find syntax errors before anything is written.
 *
 * @throws UserError when the file cannot be read or its syntax is invalid
 */
export async function openCsvFile(path: string): Promise<CsvFile> {
  if (extname(path).toLowerCase() !== ".csv") throw new UserError(`${path} must end in .csv.`);
  const before = await stat(path).catch(() => undefined);
  if (before?.isFile() === false) throw new UserError(`${path} is not a file.`);
  const hash = createHash("sha256");
  let count = 0;
  for await (const _ of parseCsv(readChunks(path, hash))) count += 1;
  return {
    digest: hash.digest(),
    count,
    async *rows() {
      yield* parseCsv(readChunks(path));
      const now = await stat(path).catch(() => undefined);
      if (now?.size !== before?.size || now?.mtimeMs !== before?.mtimeMs)
        throw new UserError(
          `${path} changed while it was read: restore it, because a changed file is another import.`,
        );
    },
  };
}

/** Reads the bytes of a file without the byte order mark that spreadsheets write at the start of UTF-8. */
async function* readChunks(path: string, hash?: Hash): AsyncGenerator<Buffer> {
  const stream: AsyncIterable<Buffer> = createReadStream(path);
  let first = true;
  try {
    for await (const chunk of stream) {
      hash?.update(chunk);
      yield first && chunk.subarray(0, 3).equals(byteOrderMark) ? chunk.subarray(3) : chunk;
      first = false;
    }
  } catch (error) {
    throw new UserError(`${path} cannot be read (${errorCode(error)}).`);
  }
}
