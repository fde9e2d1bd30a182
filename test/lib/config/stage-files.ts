import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryDirectory } from "../../support/stack/temporary-directory.ts";

/** Writes the files of stages, for one test. @param files their contents by the names of the stages @returns their directory */
export async function writeStageFiles(files: Readonly<Record<string, object | string>>): Promise<string> {
  const directory = await temporaryDirectory("stages-");
  for (const [name, content] of Object.entries(files)) {
    const text = typeof content === "string" ? content : JSON.stringify(content);
    await writeFile(join(directory, `${name}.json`), text);
  }
  return directory;
}
