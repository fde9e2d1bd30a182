import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../lib/command-line.ts";
import { withSettingsTable } from "../lib/config/settings-table.ts";
import { stageSchema } from "../lib/config/settings.ts";

const root = join(import.meta.dirname, "..");

await run(async () => {
  await writeFile(join(root, "stages/stage.schema.json"), `${JSON.stringify(stageSchema, undefined, 2)}\n`);
  const page = join(root, "docs/configuration.md");
  await writeFile(page, withSettingsTable(await readFile(page, "utf8")));
});
