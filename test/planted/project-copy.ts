import { fork, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { RunEvent } from "./test-run.ts";

const notCopied = new Set(["node_modules", ".git", ".build", ".local", "cdk.out", "coverage"]);

/** Copies a project, for faults to be planted in. @returns the directory, which is deleted when it is disposed */
export async function copyProject(root: string) {
  const path = await mkdtemp(join(tmpdir(), "planted-"));
  await cp(root, path, { recursive: true, filter: (each) => !notCopied.has(basename(each)) });
  await symlink(join(root, "node_modules"), join(path, "node_modules"));
  // There, it finds the packages of the project.
  await cp(join(import.meta.dirname, "test-run.ts"), join(path, "test-run.ts"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) };
}

/**
 * Runs tests of a copy until one fails.
 *
 * @param most how long they may take, in milliseconds
 * @param durations gets how long each file took that passed, and at least those that were stopped
 * @returns how long it took from the first test on, and the test that failed, or the file that was stopped after so long
 */
export async function runTests(
  path: string,
  tests: readonly string[],
  most: number,
  durations: Map<string, number>,
): Promise<{ time: number; failed?: { file: string; test: string; stoppedAfter?: number } }> {
  // The last one is what the command line of Vitest sets.
  const env = { ...process.env, CI: "1", TMPDIR: path, NODE_ENV: "test" };
  const child = fork(join(path, "test-run.ts"), [path, ...tests], {
    ...{ cwd: path, env, stdio: ["ignore", "ignore", "ignore", "ipc"] },
  });
  let failed: { file: string; test: string } | undefined;
  let [current = "", since] = [tests[0], Date.now()];
  let start: number | undefined;
  const stop = () => killTree(Number(child.pid));
  // It may synthesize the stack before the first test.
  let timer = setTimeout(stop, most + 180_000);
  child.on("message", (event: RunEvent) => {
    if ("started" in event) {
      [current, since] = [event.started, Date.now()];
      if (start !== undefined) return;
      start = since;
      clearTimeout(timer);
      timer = setTimeout(stop, most);
    } else if (event.failed !== undefined) failed ??= { file: event.ended, test: event.failed };
    else durations.set(event.ended, event.milliseconds);
  });
  const [code] = await once(child, "exit");
  clearTimeout(timer);
  const time = Date.now() - (start ?? Date.now());
  if (code) failed ??= { file: current, test: "an error outside of the tests" };
  if (failed || code === 0) return { time, ...(failed && { failed }) };
  const stoppedAfter = Date.now() - since;
  if (!durations.has(current)) durations.set(current, stoppedAfter);
  return { time, failed: { file: current, test: "did not end", stoppedAfter } };
}

/** Kills a process and all that it has started, also in groups of their own. */
function killTree(pid: number): void {
  const { stdout } = spawnSync("pgrep", ["-P", String(pid)], { encoding: "utf8" });
  // The parent first, which would report a child that ends as an error. `kill` does not throw for one that has ended.
  spawnSync("kill", ["-KILL", String(pid)]);
  for (const child of stdout.split("\n").filter(Boolean)) killTree(Number(child));
}
