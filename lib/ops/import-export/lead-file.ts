import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { extname } from "node:path";
import { errorCode, UserError } from "../../errors.ts";
import { csvRows } from "./csv-rows.ts";
import { jsonlRows } from "./jsonl-rows.ts";
import type { Row } from "./row.ts";

/** A file of leads that was read once, and so can be read to its end. */
export interface LeadFile extends AsyncDisposable {
  /** The SHA-256 of its bytes. */
  readonly digest: Buffer;
  /** How many rows it has. */
  readonly count: number;
  /** @throws UserError at the end, if the file was changed since it was opened */
  rows(): AsyncGenerator<Row>;
}

const formats: Readonly<Record<string, typeof csvRows>> = { ".csv": csvRows, ".jsonl": jsonlRows };

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * Opens a file and reads it once, to know it by its digest and to find before anything is written what makes it
 * unreadable.
 *
 * @throws UserError
 */
export async function openLeadFile(path: string): Promise<LeadFile> {
  const readRows = formats[extname(path).toLowerCase()];
  if (!readRows) throw new UserError(`${path} must end in ${Object.keys(formats).join(" or ")}.`);
  const handle = await openFile(path);
  try {
    const before = await handle.stat();
    if (!before.isFile()) throw new UserError(`${path} is no file.`);
    const hash = createHash("sha256");
    let count = 0;
    for await (const _ of readRows(withoutMark(readChunks(handle, (chunk) => hash.update(chunk)))))
      count += 1;
    return {
      digest: hash.digest(),
      count,
      async *rows() {
        yield* readRows(withoutMark(readChunks(handle)));
        const { size, mtimeMs } = await handle.stat();
        if (size !== before.size || mtimeMs !== before.mtimeMs)
          throw new UserError(`${path} was changed while it was read.`);
      },
      [Symbol.asyncDispose]: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path);
  } catch (error) {
    throw new UserError(`${path} cannot be read (${errorCode(error)}).`);
  }
}

async function* readChunks(handle: FileHandle, see: (chunk: Buffer) => void = () => {}) {
  const stream = handle.createReadStream({ start: 0, autoClose: false });
  for await (const chunk of stream) {
    see(chunk);
    yield chunk as Buffer;
  }
}

/** Spreadsheets begin UTF-8 with a byte order mark. */
async function* withoutMark(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let first = true;
  for await (const chunk of chunks) {
    yield first && chunk.subarray(0, 3).equals(byteOrderMark) ? chunk.subarray(3) : chunk;
    first = false;
  }
}
