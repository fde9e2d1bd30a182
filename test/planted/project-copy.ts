import { type ChildProcess, execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { RunEvent } from "./test-run.ts";

/** What is run, with which text in place of a source, and for how long at most, in milliseconds. */
export interface Task {
  readonly file?: string;
  readonly text?: string;
  readonly tests: readonly string[];
  readonly most: number;
}

/** How a run ended. */
export interface Outcome {
  /** The first test that failed. */
  readonly failed?: { readonly file: string; readonly test: string } | undefined;
  /** The test file that was stopped, and after how many milliseconds. */
  readonly stopped?: { readonly file: string; readonly after: number } | undefined;
  /** How long the tests took, without what comes before the first one, in milliseconds. */
  readonly time: number;
}

const notCopied = new Set(["node_modules", ".git", ".build", ".local", "cdk.out", "coverage"]);

/** How long a run may take to its first test: it loads everything, and may synthesize the stack. In milliseconds. */
const startTime = 180_000;

/** A copy of the project, in which tests run with a fault or without one. */
export class ProjectCopy {
  readonly #path: string;
  readonly #endpoint: string;
  /** How long each test file took that passed, in milliseconds. */
  readonly #durations: Map<string, number>;

  private constructor(path: string, endpoint: string, durations: Map<string, number>) {
    this.#path = path;
    this.#endpoint = endpoint;
    this.#durations = durations;
  }

  /** @param endpoint the URL of an engine: one that the tests started would be left when they are stopped */
  static async create(root: string, endpoint: string, durations: Map<string, number>): Promise<ProjectCopy> {
    const path = await mkdtemp(join(tmpdir(), "planted-"));
    await cp(root, path, { recursive: true, filter: (each) => !notCopied.has(basename(each)) });
    await symlink(join(root, "node_modules"), join(path, "node_modules"));
    // There, it finds the packages of the copy.
    await cp(join(import.meta.dirname, "test-run.ts"), join(path, "test-run.ts"));
    await mkdir(join(path, ".temp"));
    return new ProjectCopy(path, endpoint, durations);
  }

  async run({ file, text, tests, most }: Task): Promise<Outcome> {
    const path = file && join(this.#path, file);
    const original = path && (await readFile(path));
    if (path && text !== undefined) await writeFile(path, text);
    try {
      return await this.#runTests(tests, most);
    } finally {
      if (path && original) await writeFile(path, original);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#path, { recursive: true, force: true, maxRetries: 5 });
  }

  async #runTests(tests: readonly string[], most: number): Promise<Outcome> {
    const env = {
      ...process.env,
      CI: "1",
      TMPDIR: join(this.#path, ".temp"),
      DYNAMODB_ENDPOINT: this.#endpoint,
    };
    const script = join(this.#path, "test-run.ts");
    const stdio = ["ignore", "ignore", "ignore", "ipc"] as const;
    const child = fork(script, [this.#path, ...tests], { cwd: this.#path, env, stdio: [...stdio] });
    let failed: Outcome["failed"];
    let current = { file: tests[0] ?? "", start: Date.now() };
    let start: number | undefined;
    let isStopped = false;
    const stop = () => {
      isStopped = true;
      killTree(child);
    };
    let timer = setTimeout(stop, startTime);
    child.on("message", (event: RunEvent) => {
      if ("started" in event) {
        current = { file: event.started, start: Date.now() };
        if (start !== undefined) return;
        start = Date.now();
        clearTimeout(timer);
        timer = setTimeout(stop, most);
      } else if ("unhandled" in event)
        failed ??= { file: current.file, test: `an error: ${event.unhandled}` };
      else if (event.failed !== undefined) failed ??= { file: event.ended, test: event.failed };
      else this.#durations.set(event.ended, event.milliseconds);
    });
    const [code] = await once(child, "exit");
    clearTimeout(timer);
    const time = Date.now() - (start ?? Date.now());
    if (failed) return { failed, time };
    if (isStopped) return { stopped: { file: current.file, after: Date.now() - current.start }, time };
    return {
      failed: code === 0 ? undefined : { file: current.file, test: "the process of the tests ended" },
      time,
    };
  }
}

/** Kills a process and all that it and they have started, also in groups of their own. */
function killTree({ pid }: ChildProcess): void {
  const rows = execFileSync("ps", ["-eo", "pid=,ppid="], { encoding: "utf8" }).trim().split("\n");
  const processes = rows.map((row) => row.trim().split(/\s+/).map(Number));
  const tree = [pid];
  for (const parent of tree) tree.push(...processes.flatMap(([id, of]) => (of === parent ? [id] : [])));
  for (const id of tree) {
    try {
      if (id !== undefined) process.kill(id, "SIGKILL");
    } catch {
      // It has ended.
    }
  }
}
