import { randomUUID } from "node:crypto";
import { closeSync, fsyncSync, linkSync, lstatSync, openSync, rmSync, writeFileSync } from "node:fs";
import { errorCode, errorMessage, UserError } from "../../user-error.ts";
import { reportProgress } from "./interruption.ts";

/**
 * Writes a file that only its owner can access. Until it is complete, it has a random name beside `path`. If the text fails,
 * or a signal ends this process, no file is left.
 *
 * @throws UserError when the file exists or cannot be written, and any error of the text
 */
export async function writeOutput(text: AsyncIterable<string>, path: string): Promise<void> {
  const orUserError = <T>(use: () => T): T => {
    try {
      return use();
    } catch (error) {
      if (errorCode(error) === "EEXIST") throw existing(path);
      throw new UserError(`${path} cannot be written: ${errorMessage(error)}`);
    }
  };
  // Checked before a long text is read.
  if (lstatSync(path, { throwIfNoEntry: false })) throw existing(path);
  const part = `${path}.${randomUUID()}.part`;
  const removePart = () => rmSync(part, { force: true });
  process.once("exit", removePart);
  reportProgress(() => `${path} is not written.`);
  // Not `open`, which would create the file even after a signal has ended this process.
  const file = orUserError(() => openSync(part, "wx", 0o600));
  try {
    for await (const chunk of text) orUserError(() => writeFileSync(file, chunk));
    orUserError(() => fsyncSync(file));
    // Unlike a rename, a link overwrites nothing, even if another process has just created the file.
    orUserError(() => linkSync(part, path));
  } finally {
    removePart();
    closeSync(file);
    process.off("exit", removePart);
  }
}

const existing = (path: string) => new UserError(`${path} exists: delete it first, or name another file.`);
