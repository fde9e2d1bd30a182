import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../lib/command-line.ts";
import { openApiDocument } from "../lib/openapi/document.ts";

/** Writes the document in ASCII: the patterns have spaces of Unicode, which look alike. */
await run(async () => {
  const text = JSON.stringify(openApiDocument(), undefined, 2).replaceAll(
    /[^ -~\n]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  await writeFile(join(import.meta.dirname, "../docs/openapi.json"), `${text}\n`);
});
