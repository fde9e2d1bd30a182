import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** Creates a directory that is removed after the test or, with `afterAll`, after the test file. @returns its real path */
export async function temporaryDirectory(
  prefix = "test-",
  atEnd: (remove: () => Promise<void>) => void = onTestFinished,
): Promise<string> {
  // The temporary directory of macOS is behind a link.
  const directory = await mkdtemp(join(await realpath(tmpdir()), prefix));
  atEnd(() => rm(directory, { recursive: true, force: true }));
  return directory;
}
