import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openApiDocument } from "../lib/openapi/document.ts";

const file = join(import.meta.dirname, "../docs/openapi.json");
await writeFile(file, `${JSON.stringify(openApiDocument(), undefined, 2)}\n`);
