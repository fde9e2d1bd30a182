import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdir, realpath, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { errorCode, errorMessage, UserError } from "../../errors.ts";

/** Creates the directory if it does not exist, and locks it for this process. */
export async function openDataDirectory(directory: string) {
  const path = await prepare(directory);
  const unlock = await lockDataDirectory(path);
  const runFile = join(path, "run.json");
  return {
    /** The real path. */
    path,
    /** Writes to `run.json` how to reach this run, for the operator's commands. */
    writeRun: (run: { url: string; dynamodbEndpoint: string; tableName: string }) =>
      writeFile(runFile, `${JSON.stringify({ ...run, pid: process.pid }, null, 2)}\n`),
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

/**
 * Locks a data directory, so that this process is the only local run on it.
 *
 * The lock is a listening socket in Linux's abstract namespace: the kernel releases it however the process ends.
 *
 * @param directory the directory's real path
 * @returns a function that releases the lock
 * @throws UserError when another process holds it
 * @see https://man7.org/linux/man-pages/man7/unix.7.html
 */
export async function lockDataDirectory(directory: string): Promise<() => void> {
  // The embedded engine, which the lock protects, is available for Linux only.
  if (process.platform !== "linux") return () => {};
  const server = createServer((socket) => socket.destroy());
  server.listen(`\0leads-and-conversations-${createHash("sha256").update(directory).digest("hex")}`);
  try {
    await once(server, "listening");
  } catch (error) {
    if (errorCode(error) !== "EADDRINUSE") throw error;
    throw new UserError(
      `Another \`npm start\` is running on the data in ${directory}: stop it first, or set DATA_DIR to another directory.`,
    );
  }
  server.unref();
  return () => server.close();
}
