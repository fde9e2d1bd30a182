import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../lib/command-line.ts";
import { postmanCollection } from "../lib/openapi/collection.ts";
import { openApiDocument } from "../lib/openapi/document.ts";

/** Writes JSON to `docs/`, in ASCII: the patterns have spaces of Unicode, which look alike. */
async function write(name: string, value: object): Promise<void> {
  const text = JSON.stringify(value, undefined, 2).replaceAll(
    /[^ -~\n]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  await writeFile(join(import.meta.dirname, "../docs", name), `${text}\n`);
}

await run(async () => {
  await write("openapi.json", openApiDocument());
  await write("postman-collection.json", postmanCollection());
});
