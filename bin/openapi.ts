import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../lib/command-line.ts";
import { openApiDocument } from "../lib/openapi/document.ts";

const file = join(import.meta.dirname, "../docs/openapi.json");
await run(() => writeFile(file, `${JSON.stringify(openApiDocument(), undefined, 2)}\n`));
