import { readFile, rename, writeFile } from "node:fs/promises";

/** How far the shards of a stream have been delivered: the sequence number of the last record, by shard. */
interface StreamPosition {
  /** The stream as the engine names it: a table that was made anew has another. */
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

  /** @param file without it, nothing is kept */
  static async open(file: string | undefined): Promise<StreamPositions> {
    return new StreamPositions(file, file === undefined ? {} : await read(file));
  }

  /** How far a shard was delivered; undefined when nothing is known of it. */
  get(source: string, streamArn: string, shard: string): string | undefined {
    const position = this.#positions[source];
    return position?.streamArn === streamArn ? position.shards[shard] : undefined;
  }

  set(source: string, streamArn: string, shard: string, sequenceNumber: string): void {
    if (this.get(source, streamArn, shard) === sequenceNumber) return;
    const before = this.#positions[source];
    const shards = before?.streamArn === streamArn ? before.shards : {};
    this.#positions[source] = { streamArn, shards: { ...shards, [shard]: sequenceNumber } };
    this.#save();
  }

  /** Comes back when all is written. */
  async saved(): Promise<void> {
    await this.#writing;
  }

  #save(): void {
    if (this.#dirty) return;
    this.#dirty = true;
    this.#writing = this.#writing.then(async () => {
      this.#dirty = false;
      await this.#write();
    });
  }

  /** A file that is replaced whole is never found half written; one that is not means that records come again. */
  async #write(): Promise<void> {
    if (this.#file === undefined) return;
    try {
      await writeFile(`${this.#file}.new`, `${JSON.stringify(this.#positions, null, 2)}\n`);
      await rename(`${this.#file}.new`, this.#file);
    } catch {}
  }
}

/** What cannot be read is as good as unknown: records are delivered once more. */
async function read(file: string): Promise<Record<string, StreamPosition>> {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch {
    return {};
  }
}
