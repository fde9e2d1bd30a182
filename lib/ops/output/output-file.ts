import { randomUUID } from "node:crypto";
import { closeSync, fsyncSync, linkSync, lstatSync, openSync, rmSync, writeFileSync } from "node:fs";
import { errorCode, errorMessage, UserError } from "../../user-error.ts";

/** The exit code after each signal: 128 and its number. */
const signals = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/**
 * Writes a file that only its owner can access: under a random name beside its path, and under its own when it is complete.
 * If the text ends early, or a signal ends this process, nothing is left.
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
  // Before a long text is read.
  if (lstatSync(path, { throwIfNoEntry: false })) throw existing(path);
  const part = `${path}.${randomUUID()}.part`;
  using _ = removeOnSignal(part);
  // Not `open`, which would create the file even after a signal has ended this process.
  const file = orUserError(() => openSync(part, "wx", 0o600));
  try {
    for await (const chunk of text) orUserError(() => writeFileSync(file, chunk));
    orUserError(() => fsyncSync(file));
    // Unlike a new name, a link overwrites nothing, also if another process has just made the file.
    orUserError(() => linkSync(part, path));
  } finally {
    rmSync(part, { force: true });
    closeSync(file);
  }
}

const existing = (path: string) => new UserError(`${path} exists: delete it first, or name another file.`);

/** Removes the file if a signal ends this process. */
function removeOnSignal(file: string): Disposable {
  const remove = (signal: NodeJS.Signals) => {
    rmSync(file, { force: true });
    process.exit(signals[signal as keyof typeof signals]);
  };
  for (const signal of Object.keys(signals)) process.on(signal, remove);
  return {
    [Symbol.dispose]() {
      for (const signal of Object.keys(signals)) process.off(signal, remove);
    },
  };
}
