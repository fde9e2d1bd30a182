import { mkdir, realpath, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { errorMessage, UserError } from "../../errors.ts";
import { lockDataDirectory } from "./data-lock.ts";

/** The directory that keeps the data of local runs, locked by this process. */
export interface DataDirectory {
  /** Its real path. */
  readonly path: string;
  /** Writes to `run.json` how to reach this run, for the operator's commands. */
  writeRun(run: { url: string; dynamodbEndpoint: string; tableName: string }): Promise<void>;
  close(): Promise<void>;
}

/** Creates the directory if it does not exist, and locks it for this process. */
export async function openDataDirectory(directory: string): Promise<DataDirectory> {
  const path = await prepare(directory);
  const unlock = await lockDataDirectory(path);
  const runFile = join(path, "run.json");
  return {
    path,
    writeRun: (run) => writeFile(runFile, `${JSON.stringify({ ...run, pid: process.pid }, null, 2)}\n`),
    async close() {
      await rm(runFile, { force: true });
      unlock();
    },
  };
}

async function prepare(directory: string): Promise<string> {
  try {
    await mkdir(directory, { recursive: true });
    const path = await realpath(directory);
    // Fail here: the engine's own error does not name the cause.
    const probe = join(path, ".probe");
    await writeFile(probe, "");
    await rm(probe);
    return path;
  } catch (error) {
    throw new UserError(
      `The data directory ${directory} cannot be used (${errorMessage(error)}): set DATA_DIR to another one.`,
    );
  }
}
