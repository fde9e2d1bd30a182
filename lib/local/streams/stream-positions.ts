import { readFile, rename, writeFile } from "node:fs/promises";

/** How far the shards of a stream have been delivered: the last sequence number by shard. */
interface StreamPosition {
  /** The stream's ARN in the engine: a recreated table has another one. */
  readonly streamArn: string;
  readonly shards: Record<string, string>;
}

/** The positions of all event sources, kept from one run to the next. */
export class StreamPositions {
  readonly #file: string | undefined;
  readonly #positions: Record<string, StreamPosition>;
  #writing: Promise<void> = Promise.resolve();
  #dirty = false;

  private constructor(file: string | undefined, positions: Record<string, StreamPosition>) {
    this.#file = file;
    this.#positions = positions;
  }

  /** @param file without it, the positions are kept in memory only */
  static async open(file: string | undefined): Promise<StreamPositions> {
    return new StreamPositions(file, file === undefined ? {} : await read(file));
  }

  /** The last sequence number delivered from a shard; undefined when none is known. */
  get(source: string, streamArn: string, shard: string): string | undefined {
    return this.#shards(source, streamArn)[shard];
  }

  set(source: string, streamArn: string, shard: string, sequenceNumber: string): void {
    const shards = { ...this.#shards(source, streamArn), [shard]: sequenceNumber };
    this.#positions[source] = { streamArn, shards };
    if (this.#dirty) return;
    this.#dirty = true;
    this.#writing = this.#writing.then(() => this.#write());
  }

  /** Resolves when all positions are written. */
  saved(): Promise<void> {
    return this.#writing;
  }

  #shards(source: string, streamArn: string): StreamPosition["shards"] {
    const position = this.#positions[source];
    return position?.streamArn === streamArn ? position.shards : {};
  }

  /** Replaces the file atomically. If that fails, the next run delivers some records again. */
  async #write(): Promise<void> {
    this.#dirty = false;
    if (this.#file === undefined) return;
    try {
      await writeFile(`${this.#file}.new`, `${JSON.stringify(this.#positions, null, 2)}\n`, { mode: 0o600 });
      await rename(`${this.#file}.new`, this.#file);
    } catch {}
  }
}

/** Treats an unreadable file as empty: all records are delivered again. */
async function read(file: string): Promise<Record<string, StreamPosition>> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as Record<string, StreamPosition>;
  } catch {
    return {};
  }
}
