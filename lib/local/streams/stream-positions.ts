import { readFileSync, renameSync, writeFileSync } from "node:fs";

export type StreamPositions = ReturnType<typeof openPositions>;

/**
 * How far each event source has read each shard, kept from one run to the next: the sequence number of the last record.
 */
export function openPositions(file: string) {
  const positions = read(file);
  return {
    get: (key: string): string | undefined => positions[key],
    set(key: string, sequenceNumber: string): void {
      positions[key] = sequenceNumber;
      writeFileSync(`${file}.new`, `${JSON.stringify(positions, null, 2)}\n`, { mode: 0o600 });
      renameSync(`${file}.new`, file);
    },
  };
}

/** Treats an invalid file as empty: all records are delivered again. */
function read(file: string): Record<string, string> {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Record<string, string>;
  } catch {
    return {};
  }
}
