import { DatabaseSync } from "node:sqlite";
import { errorMessage } from "../../user-error.ts";

/** The versions of dynoxide whose table of stream records has no index. */
const affectedVersions: readonly string[] = ["1.2.1"];

/**
 * Adds an index to the embedded engine's table of stream records, which works around a defect of dynoxide 1.2.1: it
 * has no index on `_stream_records`, so every write and every read of a stream scans all records that were ever
 * written. With 100,000 records that takes some 20 ms. A run without the index works too, only slower.
 *
 * SQLite uses the index only for the expression exactly as it is in the engine's queries.
 *
 * @param databaseFile the file of a running engine, which has created the table
 * @see https://www.sqlite.org/expridx.html
 */
export function indexStream(databaseFile: string, version: string, log: (line: string) => void): void {
  if (!affectedVersions.includes(version)) return;
  try {
    // The timeout lets the engine finish its own writes.
    using database = new DatabaseSync(databaseFile, { timeout: 10_000 });
    database.exec(
      "CREATE INDEX IF NOT EXISTS stream_by_number ON _stream_records (table_name, CAST(sequence_number AS INTEGER))",
    );
  } catch (error) {
    log(
      `The embedded DynamoDB's stream could not be indexed (${errorMessage(error)}): writes slow down as it grows.`,
    );
  }
}
