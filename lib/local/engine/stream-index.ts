import { DatabaseSync } from "node:sqlite";

/**
 * Gives the embedded engine's SQLite database an index for its streams. It has none of its own, so that each write,
 * and each look at a stream, would read all changes that were ever made: some 20 ms with 100,000 of them.
 *
 * It waits for what the engine may be writing. The engine's queries have the expression in these very letters, without which SQLite does not use the index.
 *
 * @param databaseFile of an engine that is running, which makes the table and finds the index by itself
 * @see https://www.sqlite.org/expridx.html
 */
export function indexStream(databaseFile: string): void {
  using database = new DatabaseSync(databaseFile, { timeout: 10_000 });
  database.exec(
    "CREATE INDEX IF NOT EXISTS stream_by_number ON _stream_records (table_name, CAST(sequence_number AS INTEGER))",
  );
}
