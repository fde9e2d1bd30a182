import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../lib/command-line.ts";
import { generatedFiles } from "../lib/generated-files.ts";

await run(async () => {
  for (const [path, text] of Object.entries(generatedFiles()))
    await writeFile(join(import.meta.dirname, "..", path), text);
});
