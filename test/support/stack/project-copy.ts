import { cp, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestSettings } from "./stage-files.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

const root = join(import.meta.dirname, "../../..");

/**
 * Copies the sources of the project, for a test to change. The copy is removed after the test.
 *
 * @param stages files of stages to add
 */
export async function copyProject(stages: Readonly<Record<string, TestSettings>> = {}): Promise<string> {
  const copy = await temporaryDirectory("project-");
  // The local run serves the inbox.
  const names = ["bin", "functions", "lib", "shared", "stages", "docs/inbox", "cdk.json", "package.json"];
  for (const name of names) await cp(join(root, name), join(copy, name), { recursive: true });
  await symlink(join(root, "node_modules"), join(copy, "node_modules"));
  for (const [name, settings] of Object.entries(stages))
    await writeFile(join(copy, "stages", `${name}.json`), JSON.stringify(settings));
  return copy;
}
