import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { parseJson } from "../../../shared/json.ts";

export type StreamPositions = ReturnType<typeof openPositions>;

/**
 * How far each event source has read each shard, kept from one run to the next: the sequence number of the last record.
 * With an invalid file, all records are delivered again.
 */
export function openPositions(file: string) {
  const stored = existsSync(file) ? parseJson(readFileSync(file, "utf8")) : undefined;
  const positions = Object(stored) as Record<string, string>;
  return {
    get: (key: string): string | undefined => positions[key],
    set(key: string, sequenceNumber: string): void {
      positions[key] = sequenceNumber;
      writeFileSync(`${file}.new`, `${JSON.stringify(positions, null, 2)}\n`, { mode: 0o600 });
      renameSync(`${file}.new`, file);
    },
  };
}
