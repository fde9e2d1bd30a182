import { randomUUID } from "node:crypto";
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { errorMessage, UserError } from "../../errors.ts";

/** The exit code after each signal: 128 and its number. */
const signals = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/**
 * Writes a file that only its owner can access: under a random name beside its path, then renamed when it is complete.
 * A link at the path is replaced, not followed. If the text ends early, or a signal ends this process, nothing is left.
 *
 * @throws UserError when the file cannot be written, and any error of the text
 */
export async function writeOutput(
  text: AsyncIterable<string> | Iterable<string>,
  path: string,
): Promise<void> {
  const orUserError = <T>(use: () => T): T => {
    try {
      return use();
    } catch (error) {
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
    orUserError(() => renameSync(part, path));
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
}

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
