import { DatabaseSync } from "node:sqlite";

/** SQLite's code for a file that another connection uses: https://www.sqlite.org/rescode.html#busy */
const busy = 5;

/** The locked databases: one that nothing refers to any more would be closed, and lose its lock. */
const locked = new Set<DatabaseSync>();

/**
 * Locks a database of SQLite, or an empty file, against all other connections, those of this process too. SQLite does
 * this alike on every platform, and the system releases the lock however the process ends.
 *
 * @returns a function that releases the lock, or `undefined` if another connection uses the file
 */
export function lockFile(file: string): (() => void) | undefined {
  const database = new DatabaseSync(file);
  try {
    // In WAL mode, a transaction alone does not exclude other connections.
    database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
    locked.add(database);
    return () => {
      locked.delete(database);
      database.close();
    };
  } catch (error) {
    database.close();
    const { errcode = 0 } = error as { errcode?: number };
    // The rest of the code says why it is in use.
    if (errcode % 256 === busy) return undefined;
    throw error;
  }
}
