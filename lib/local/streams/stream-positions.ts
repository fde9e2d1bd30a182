import { readFileSync, renameSync, writeFileSync } from "node:fs";

/** How far the shards of a stream have been delivered: the last sequence number by shard. */
interface StreamPosition {
  /** The stream's ARN in the engine: a recreated table has another one. */
  readonly streamArn: string;
  readonly shards: Readonly<Record<string, string>>;
}

export type StreamPositions = ReturnType<typeof openPositions>;

/**
 * The positions of all event sources, kept from one run to the next.
 *
 * @param file without it, the positions are kept in memory only
 */
export function openPositions(file: string | undefined) {
  const positions = file === undefined ? {} : read(file);
  const shardsOf = (source: string, streamArn: string): StreamPosition["shards"] => {
    const position = positions[source];
    return position?.streamArn === streamArn ? position.shards : {};
  };
  return {
    /** The last sequence number delivered from a shard; undefined when none is known. */
    get: (source: string, streamArn: string, shard: string): string | undefined =>
      shardsOf(source, streamArn)[shard],
    set(source: string, streamArn: string, shard: string, sequenceNumber: string): void {
      const shards = { ...shardsOf(source, streamArn), [shard]: sequenceNumber };
      positions[source] = { streamArn, shards };
      if (file !== undefined) write(file, positions);
    },
  };
}

/** Replaces the file atomically. If that fails, the next run delivers some records again. */
function write(file: string, positions: object): void {
  try {
    writeFileSync(`${file}.new`, `${JSON.stringify(positions, null, 2)}\n`, { mode: 0o600 });
    renameSync(`${file}.new`, file);
  } catch {}
}

/** Treats an unreadable file as empty: all records are delivered again. */
function read(file: string): Record<string, StreamPosition> {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Record<string, StreamPosition>;
  } catch {
    return {};
  }
}
