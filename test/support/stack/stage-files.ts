import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { StageFile } from "../../../lib/config/settings.ts";

/** The stages of the tests. The shipped ones can be changed without breaking a test. */
const stages: Readonly<Record<string, StageFile>> = {
  dev: {
    removalPolicy: "destroy",
    throttleRate: 500,
    throttleBurst: 500,
    logRetentionDays: 7,
  },
  prod: { canary: true },
};

/** Settings of a stage; as a test may get them wrong, of any type. */
export type TestSettings = Readonly<Record<string, unknown>>;

/**
 * Writes the files of the stages of the tests, and of another one if it is named.
 *
 * @param settings over those of the stage
 * @returns the directory
 */
export async function writeStages(
  parent: string,
  stage: string,
  settings: TestSettings = {},
): Promise<string> {
  const directory = join(parent, "stages");
  await mkdir(directory, { recursive: true });
  const files = { ...stages, [stage]: { ...stages[stage], ...settings } };
  for (const [name, file] of Object.entries(files))
    await writeFile(join(directory, `${name}.json`), JSON.stringify(file));
  return directory;
}
