import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

/** Writes the files of stages, for one test. @param texts by the names of the stages @returns their directory */
export async function writeStageFiles(texts: Readonly<Record<string, string>>): Promise<string> {
  const directory = await temporaryDirectory("stages-");
  for (const [name, text] of Object.entries(texts)) await writeFile(join(directory, `${name}.json`), text);
  return directory;
}
