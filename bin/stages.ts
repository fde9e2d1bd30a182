import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../lib/command-line.ts";
import { stageSchema } from "../lib/config/settings.ts";
import { withSettingsTable } from "../lib/config/settings-table.ts";

const directory = join(import.meta.dirname, "..");

await run(async () => {
  await writeFile(
    join(directory, "stages/stage.schema.json"),
    `${JSON.stringify(stageSchema, undefined, 2)}\n`,
  );
  const page = join(directory, "docs/configuration.md");
  await writeFile(page, withSettingsTable(await readFile(page, "utf8")));
});
