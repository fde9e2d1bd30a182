import { randomUUID } from "node:crypto";
import { closeSync, fsyncSync, linkSync, lstatSync, openSync, rmSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { errorCode, errorMessage, UserError } from "../../user-error.ts";
import { printFailure } from "./print-failure.ts";

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

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
  const endBySignal = (signal: NodeJS.Signals) => {
    rmSync(part, { force: true });
    const message = `Stopped: ${path} is not written. Run the same command again.`;
    console.error(message);
    printFailure(message);
    process.exit(128 + constants.signals[signal]);
  };
  for (const signal of signals) process.prependListener(signal, endBySignal);
  // Not `open`, which would create the file even after a signal has ended this process.
  const file = orUserError(() => openSync(part, "wx", 0o600));
  try {
    for await (const chunk of text) orUserError(() => writeFileSync(file, chunk));
    orUserError(() => fsyncSync(file));
    // Unlike a rename, a link overwrites nothing, even if another process has just created the file.
    orUserError(() => linkSync(part, path));
  } finally {
    rmSync(part, { force: true });
    closeSync(file);
    for (const signal of signals) process.off(signal, endBySignal);
  }
}

const existing = (path: string) => new UserError(`${path} exists: delete it first, or name another file.`);
