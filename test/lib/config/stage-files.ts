import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** Writes the files of stages, for one test. @param texts by the names of the stages @returns their directory */
export async function writeStageFiles(texts: Readonly<Record<string, string>>): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "stages-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  for (const [name, text] of Object.entries(texts)) await writeFile(join(directory, `${name}.json`), text);
  return directory;
}
