import { fork, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { RunEvent } from "./test-run.ts";

/** How a run ended; its times are in milliseconds. */
export interface Outcome {
  /** The first test that failed. */
  readonly failed?: { readonly file: string; readonly test: string } | undefined;
  /** The test file that was stopped because the time was up. */
  readonly stopped?: { readonly file: string; readonly after: number } | undefined;
  /** Without what comes before the first test. */
  readonly time: number;
}

const notCopied = new Set(["node_modules", ".git", ".build", ".local", "cdk.out", "coverage"]);

/** How long a run may take to its first test, in milliseconds: it may synthesize the stack. */
const startTime = 180_000;

/** Copies a project, for faults to be planted in. @returns the directory, which is deleted when it is disposed */
export async function copyProject(root: string) {
  const path = await mkdtemp(join(tmpdir(), "planted-"));
  await cp(root, path, { recursive: true, filter: (each) => !notCopied.has(basename(each)) });
  await symlink(join(root, "node_modules"), join(path, "node_modules"));
  // There, it finds the packages of the project.
  await cp(join(import.meta.dirname, "test-run.ts"), join(path, "test-run.ts"));
  await mkdir(join(path, ".temp"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) };
}

/** Calls with another text in place of a source. */
export async function withText<T>(path: string, text: string, run: () => Promise<T>): Promise<T> {
  const original = await readFile(path);
  await writeFile(path, text);
  try {
    return await run();
  } finally {
    await writeFile(path, original);
  }
}

/**
 * Runs tests of a copy until one fails.
 *
 * @param most how long they may take, in milliseconds
 * @param durations gets how long each file took that passed, and at least those that were stopped
 */
export async function runTests(
  path: string,
  tests: readonly string[],
  most: number,
  durations: Map<string, number>,
): Promise<Outcome> {
  const env = { ...process.env, CI: "1", TMPDIR: join(path, ".temp") };
  const child = fork(join(path, "test-run.ts"), [path, ...tests], {
    ...{ cwd: path, env, stdio: ["ignore", "ignore", "ignore", "ipc"] },
  });
  const [first = ""] = tests;
  let failed: Outcome["failed"];
  let current = { file: first, since: Date.now() };
  let start: number | undefined;
  const stop = () => killTree(Number(child.pid));
  let timer = setTimeout(stop, startTime);
  child.on("message", (event: RunEvent) => {
    if ("started" in event) {
      current = { file: event.started, since: Date.now() };
      if (start !== undefined) return;
      start = Date.now();
      clearTimeout(timer);
      timer = setTimeout(stop, most);
    } else if ("unhandled" in event) failed ??= { file: current.file, test: `an error: ${event.unhandled}` };
    else if (event.failed !== undefined) failed ??= { file: event.ended, test: event.failed };
    else durations.set(event.ended, event.milliseconds);
  });
  const [code, signal] = await once(child, "exit");
  clearTimeout(timer);
  const time = Date.now() - (start ?? Date.now());
  const { file, since } = current;
  if (failed) return { failed, time };
  if (signal === null) return { failed: code ? { file, test: "the tests ended early" } : undefined, time };
  const after = Date.now() - since;
  if (!durations.has(file)) durations.set(file, after);
  return { stopped: { file, after }, time };
}

/** Kills a process and all that it has started, also in groups of their own. */
function killTree(pid: number): void {
  const { stdout } = spawnSync("pgrep", ["-P", String(pid)], { encoding: "utf8" });
  for (const child of stdout.split("\n").filter(Boolean)) killTree(Number(child));
  // Unlike `process.kill`, it does not fail for one that has ended.
  spawnSync("kill", ["-KILL", String(pid)]);
}
