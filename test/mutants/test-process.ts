import { type ChildProcess, fork } from "node:child_process";
import { on, once } from "node:events";
import { cp, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { signalProcess } from "../lib/local/support/process.ts";
import type { Outcome, Task } from "./worker.ts";

const root = join(import.meta.dirname, "../..");
const notCopied = new Set(["node_modules", ".git", ".build", ".local", "cdk.out", "coverage"]);

/** How long a run may last without the end of a test, in milliseconds: a test may last two minutes. */
const stallTime = 180_000;

/** A copy of the project, and the process that runs its tests. */
export class TestProcess {
  readonly #copy: string;
  readonly #endpoint: string;
  #child: ChildProcess | undefined;

  private constructor(copy: string, endpoint: string) {
    this.#copy = copy;
    this.#endpoint = endpoint;
  }

  /** @param endpoint the URL of an engine: one that the process started would be left when it is killed */
  static async create(endpoint: string): Promise<TestProcess> {
    const copy = await mkdtemp(join(tmpdir(), "mutants-"));
    await cp(root, copy, { recursive: true, filter: (path) => !notCopied.has(basename(path)) });
    await symlink(join(root, "node_modules"), join(copy, "node_modules"));
    return new TestProcess(copy, endpoint);
  }

  /** Runs tests. @returns the outcome; a run that does not end has failed in its first test */
  async run(task: Task): Promise<Outcome> {
    this.#child ??= await this.#start();
    this.#child.send(task);
    const outcome = await this.#nextOutcome(this.#child);
    if (outcome) return outcome;
    this.#kill();
    await cp(join(root, task.file), join(this.#copy, task.file));
    return { failed: { file: task.tests[0] ?? "", name: "did not end" }, durations: {} };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#kill();
    await rm(this.#copy, { recursive: true, force: true, maxRetries: 5 });
  }

  async #start(): Promise<ChildProcess> {
    const script = join(import.meta.dirname, "worker.ts");
    const child = fork(script, [this.#copy], {
      cwd: this.#copy,
      env: { ...process.env, DYNAMODB_ENDPOINT: this.#endpoint },
      detached: true,
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    const ended = once(child, "exit").then(([code, signal]) => {
      throw new Error(`The process of the tests ended at its start: ${signal ?? code}.`);
    });
    await Promise.race([untilReady(child), ended]);
    return child;
  }

  /** The next outcome. @returns undefined when there is no progress for long, or the process has ended */
  #nextOutcome(child: ChildProcess): Promise<Outcome | undefined> {
    return new Promise((resolve) => {
      const settle = (outcome?: Outcome) => {
        clearTimeout(timer);
        child.removeAllListeners();
        resolve(outcome);
      };
      const timer = setTimeout(settle, stallTime);
      child.on("exit", () => settle());
      child.on("message", (message: Outcome | "progress") => {
        if (message === "progress") timer.refresh();
        else settle(message);
      });
    });
  }

  /** Ends the process with those that it has started. */
  #kill(): void {
    if (this.#child?.pid !== undefined) signalProcess(-this.#child.pid, "SIGKILL");
    this.#child = undefined;
  }
}

async function untilReady(child: ChildProcess): Promise<void> {
  for await (const [message] of on(child, "message")) if (message === "ready") return;
}
