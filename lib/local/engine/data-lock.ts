import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import { errorCode, UserError } from "../../errors.ts";

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
