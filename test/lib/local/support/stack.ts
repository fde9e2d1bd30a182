import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { LocalFunction } from "../../../../lib/local/template/functions.ts";

/** Creates a directory that is removed after the test. @returns its real path */
export async function temporaryDirectory(): Promise<string> {
  // The temporary directory of macOS is behind a link.
  const directory = await mkdtemp(join(await realpath(tmpdir()), "local-test-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** Creates a function of the local run. @param source the code of its module, which exports `handler` */
export async function createFunction(
  source: string,
  settings: Partial<LocalFunction> = {},
): Promise<LocalFunction> {
  const codeDirectory = await temporaryDirectory();
  await writeFile(join(codeDirectory, "index.cjs"), source);
  return {
    name: "Probe",
    label: "probe",
    arn: "arn:aws:lambda:local:000000000000:function:Probe",
    codeDirectory,
    handler: "index.handler",
    timeout: 3000,
    memorySize: 128,
    environment: {},
    role: { name: "ProbeRole", statements: [] },
    ...settings,
  };
}
