import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { errorMessage, UserError } from "../../errors.ts";

/** The exit code after each signal: 128 and its number. */
const signals = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/**
 * Writes a file that only its owner can access: under a random name beside its path, then renamed when it is complete.
 * A link at the path is replaced, not followed. If the text ends early, or a signal ends this process, nothing is left.
 *
 * @throws UserError when the file cannot be written, and any error of the text
 */
export async function writeOutput(text: AsyncIterable<string>, path: string): Promise<void> {
  const toUserError = (error: unknown) => {
    throw new UserError(`${path} cannot be written: ${errorMessage(error)}`);
  };
  const part = `${path}.${randomUUID()}.part`;
  using _ = removeOnSignal(part);
  await using file = await open(part, "wx", 0o600).catch(toUserError);
  try {
    for await (const chunk of text) await file.appendFile(chunk).catch(toUserError);
    await file.sync().catch(toUserError);
    await rename(part, path).catch(toUserError);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
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
