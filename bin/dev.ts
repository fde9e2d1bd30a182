import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, watch } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";

const root = join(import.meta.dirname, "..");

/** The directories of what is deployed, synthesized or run. */
const sources = ["functions", "shared", "lib", "stages"].map((name) => join(root, name));

let stop: () => void = () => process.exit();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => stop());

for (;;) {
  const changed = watchSources();
  const child = spawn(process.execPath, ["bin/local.ts", ...process.argv.slice(2)], {
    cwd: root,
    stdio: "inherit",
  });
  const ended = once(child, "exit");
  stop = () => {
    child.kill();
    ended.then(() => process.exit());
  };
  ended.then(() => console.log("It has ended: waiting for a change of the sources."));
  await changed;
  console.log("A source has changed.");
  if (child.kill()) await ended;
}

/**
 * Resolves after a change. Directories are watched, not files, as `node --watch-path` does: it does not see the changes of
 * a file after an editor has replaced it by a rename.
 */
async function watchSources(): Promise<void> {
  const changed = Promise.withResolvers<void>();
  const watchers = [
    watch(root, (_, name) => name === "cdk.json" && changed.resolve()),
    ...sources.flatMap(withDirectories).map((directory) => watch(directory, () => changed.resolve())),
  ];
  await changed.promise;
  // Editors write more than once.
  await setTimeout(100);
  for (const watcher of watchers) watcher.close();
}

function withDirectories(directory: string): string[] {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  return [
    directory,
    ...entries.filter((entry) => entry.isDirectory()).map((e) => join(e.parentPath, e.name)),
  ];
}
