import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../lib/command-line.ts";
import { stageSchema } from "../lib/config/settings.ts";
import { withSettingsTable } from "../lib/config/settings-table.ts";
import { withAlarmsTable } from "../lib/monitoring/alarms-table.ts";

const directory = join(import.meta.dirname, "..");

async function update(file: string, withTable: (page: string) => string): Promise<void> {
  const page = join(directory, file);
  await writeFile(page, withTable(await readFile(page, "utf8")));
}

/** Writes what pages and editors know of the settings and the alarms. */
await run(async () => {
  await writeFile(
    join(directory, "stages/stage.schema.json"),
    `${JSON.stringify(stageSchema, undefined, 2)}\n`,
  );
  await update("docs/configuration.md", withSettingsTable);
  await update("docs/operations.md", withAlarmsTable);
});
