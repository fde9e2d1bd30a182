import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { LocalFunction } from "../../../../lib/local/template/functions.ts";
import { temporaryDirectory } from "../../../support/stack/temporary-directory.ts";

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
    codeDirectory,
    handler: "index.handler",
    // Long enough for a busy machine.
    timeout: 60_000,
    memorySize: 128,
    environment: {},
    role: { name: "ProbeRole", statements: [] },
    ...settings,
  };
}
