import { chmod, mkdir, realpath, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { dataFormat } from "../../../shared/dynamodb/data-format.ts";
import { isInUse, type RunFile } from "../../ops/command/local-run-file.ts";
import { errorMessage, UserError } from "../../user-error.ts";

/**
 * Creates the directory if it does not exist, makes it accessible to its owner only, and locks it, so that this process is
 * the only local run on it.
 *
 * @throws UserError when the directory cannot be used, or another process holds the lock
 */
export async function openDataDirectory(directory: string) {
  const { path, unlock } = await prepareAndLock(directory).catch((error: unknown) => {
    throw new UserError(
      `The data directory ${directory} cannot be used (${errorMessage(error)}): set DATA_DIR to another one.`,
    );
  });
  if (!unlock)
    throw new UserError(
      `Another \`npm start\` is running on the data in ${path}: stop it first, or set DATA_DIR to another directory.`,
    );
  return {
    /** The real path. */
    path,
    unlock,
    /** Writes to `run.json` how to reach this run, for the operator's commands. The file stays after the run. */
    writeRun(run: Omit<RunFile, "dataFormat">) {
      const content: RunFile = { ...run, dataFormat };
      return writeFile(join(path, "run.json"), `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
    },
  };
}

async function prepareAndLock(directory: string) {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const path = await realpath(directory);
  if ((await stat(path)).mode & sticky) throw new Error("other users share it");
  // This protects its files whatever their own modes are.
  await chmod(path, 0o700);
  return { path, unlock: lockFile(join(path, "run.lock")) };
}

/** The bit in the mode of a directory such as `/tmp`. */
const sticky = 0o1000;

/** The connections that hold a lock. One that nothing refers to would be closed, and its lock released. */
const held = new Set<DatabaseSync>();

/**
 * Locks an SQLite database, or an empty file, against all other connections, including those of this process. SQLite locks
 * in the same way on every platform, and the system releases the lock however the process ends.
 *
 * @returns a function that releases the lock, or `undefined` if another connection uses the file
 */
export function lockFile(file: string): (() => void) | undefined {
  const database = new DatabaseSync(file);
  try {
    // In WAL mode, a transaction alone does not exclude other connections.
    database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
    held.add(database);
    return () => {
      held.delete(database);
      database.close();
    };
  } catch (error) {
    database.close();
    if (isInUse(error)) return undefined;
    throw error;
  }
}
