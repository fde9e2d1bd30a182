import { chmod, mkdir, realpath, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { dataFormat } from "../../../shared/dynamodb/data-format.ts";
import { errorMessage, UserError } from "../../user-error.ts";
import { lockFile } from "./file-lock.ts";

/**
 * Creates the directory if it does not exist, makes it accessible to its owner only, and locks it for
 * this process.
 */
export async function openDataDirectory(directory: string) {
  const { path, unlock } = await prepareAndLock(directory);
  const runFile = join(path, "run.json");
  return {
    /** The real path. */
    path,
    /** Writes to `run.json` how to reach this run, for the operator's commands. */
    writeRun: (run: { url: string; dynamodbEndpoint: string; tableName: string }) =>
      writeFile(runFile, `${JSON.stringify({ ...run, dataFormat, pid: process.pid }, null, 2)}\n`, {
        mode: 0o600,
      }),
    async close() {
      await rm(runFile, { force: true });
      unlock();
    },
  };
}

async function prepareAndLock(directory: string) {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const path = await realpath(directory);
    await makePrivate(path);
    return { path, unlock: await lockDataDirectory(path) };
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(
      `The data directory ${directory} cannot be used (${errorMessage(error)}): set DATA_DIR to another one.`,
    );
  }
}

/** Gives the directory the mode 0700, whatever its files have. @throws Error for a shared directory */
async function makePrivate(directory: string): Promise<void> {
  const isSticky = ((await stat(directory)).mode & 0o1000) !== 0;
  if (isSticky) throw new Error("other users share it");
  await chmod(directory, 0o700);
}

/**
 * Locks a data directory, so that this process is the only local run on it.
 *
 * @returns a function that releases the lock; the system does so however the process ends
 * @throws UserError when another process holds it
 */
async function lockDataDirectory(directory: string): Promise<() => void> {
  const file = join(directory, "run.lock");
  const unlock = lockFile(file);
  if (unlock) return unlock;
  throw new UserError(
    `Another \`npm start\` is running on the data in ${directory}: stop it first, or set DATA_DIR to another directory.`,
  );
}
