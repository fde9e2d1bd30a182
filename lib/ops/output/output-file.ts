import { randomUUID } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { errorCode, errorMessage, UserError } from "../../user-error.ts";

/** The exit code after each signal: 128 and its number. */
const signals = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/**
 * Writes a file that only its owner can access: under a random name beside its path, then renamed when it is complete.
 * A link at the path is replaced, not followed. If the text ends early, or a signal ends this process, nothing is left.
 *
 * @param place what gives the complete file its path instead
 * @throws UserError when the file cannot be written, and any error of the text
 */
export async function writeOutput(
  text: AsyncIterable<string> | Iterable<string>,
  path: string,
  place: (part: string, path: string) => void = renameSync,
): Promise<void> {
  const orUserError = <T>(use: () => T): T => {
    try {
      return use();
    } catch (error) {
      if (error instanceof UserError) throw error;
      throw new UserError(`${path} cannot be written: ${errorMessage(error)}`);
    }
  };
  const part = `${path}.${randomUUID()}.part`;
  using _ = removeOnSignal(part);
  // Not `open`, which would create the file even after a signal has ended this process.
  const file = orUserError(() => openSync(part, "wx", 0o600));
  try {
    for await (const chunk of text) orUserError(() => writeFileSync(file, chunk));
    orUserError(() => fsyncSync(file));
    orUserError(() => place(part, path));
  } finally {
    rmSync(part, { force: true });
    closeSync(file);
  }
}

/** Gives a complete file a path where there is nothing, also if another process creates it now. @throws UserError */
export function placeNew(part: string, path: string): void {
  try {
    linkSync(part, path);
  } catch (error) {
    throw errorCode(error) === "EEXIST" ? existing(path) : error;
  }
}

/** Checks the same beforehand. @throws UserError */
export function checkAbsent(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })) throw existing(path);
}

const existing = (path: string) => new UserError(`${path} exists, and stays as it is: name another file.`);

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
