import {
  access,
  chmod,
  constants,
  lstat,
  mkdir,
  readdir,
  realpath,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { errorCode, errorMessage, UserError } from "../../errors.ts";
import { lockFile } from "./file-lock.ts";

/** The files that a run keeps in its data directory: the database and the lock with SQLite's own files, and what the run writes. */
const dataFile = /^(?:(?:dynamodb\.sqlite|run\.lock)(?:-\w+)?|api-key|run\.json|stream\.json(?:\.new)?)$/;

/**
 * Creates the directory if it does not exist, makes it and its files accessible to their owner only, and locks it for
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
      writeFile(runFile, `${JSON.stringify({ ...run, pid: process.pid }, null, 2)}\n`, { mode: 0o600 }),
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
    // Fail here: the engine's own error does not name the cause.
    await access(path, constants.W_OK | constants.X_OK);
    return { path, unlock: await lockDataDirectory(path) };
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(
      `The data directory ${directory} cannot be used (${errorMessage(error)}): set DATA_DIR to another one.`,
    );
  }
}

/** Gives the directory the mode 0700 and its data files 0600. @throws Error for a shared directory, or a link */
async function makePrivate(directory: string): Promise<void> {
  const isSticky = ((await stat(directory)).mode & 0o1000) !== 0;
  if (isSticky) throw new Error("other users share it");
  // First, so that nobody else can replace a file by a link from now on.
  await chmod(directory, 0o700);
  for (const name of (await readdir(directory)).filter((name) => dataFile.test(name))) {
    const file = join(directory, name);
    if (!(await lstat(file)).isFile()) throw new Error(`${name} is not a file`);
    await chmod(file, 0o600);
  }
}

/**
 * Locks a data directory, so that this process is the only local run on it.
 *
 * @returns a function that releases the lock; the system does so however the process ends
 * @throws UserError when another process holds it
 */
async function lockDataDirectory(directory: string): Promise<() => void> {
  const file = join(directory, "run.lock");
  // SQLite would create it with the access that the umask allows. If this process held the lock, to open the file and close
  // it again would release it.
  await writeFile(file, "", { flag: "wx", mode: 0o600 }).catch((error) => {
    if (errorCode(error) !== "EEXIST") throw error;
  });
  const unlock = lockFile(file);
  if (unlock) return unlock;
  throw new UserError(
    `Another \`npm start\` is running on the data in ${directory}: stop it first, or set DATA_DIR to another directory.`,
  );
}
