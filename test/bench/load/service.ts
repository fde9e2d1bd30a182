import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { WorkerHeap } from "./heap.ts";

/** What the service's process can be told to do, and what comes of it. */
export interface Outcomes {
  readonly key: string;
  readonly heap: readonly WorkerHeap[];
  readonly stop: unknown;
}

/** One order to the service's process. */
export interface Command {
  readonly name: keyof Outcomes;
  readonly account?: string;
}

/** The whole service on this machine, in a process of its own. */
export interface Service {
  readonly url: string;
  /** Makes an API key of an account. */
  issueKey(account: string): Promise<string>;
  /** The memory of every execution environment, after a forced collection. */
  heap(): Promise<readonly WorkerHeap[]>;
  stop(): Promise<void>;
}

const directory = join(import.meta.dirname, "..", "..", "..", ".build", "bench");

/**
 * Starts the service with the stage `dev` and the given settings over its own. What it logs is in
 * `.build/bench/<name>.log`.
 *
 * @throws Error when it ends before it is told to, whatever it was doing
 */
export async function startService(
  name: string,
  settings: Readonly<Record<string, number>>,
): Promise<Service> {
  await mkdir(directory, { recursive: true });
  const args = [JSON.stringify(settings), join(directory, `${name}.log`)];
  const child = fork(new URL("./service-process.ts", import.meta.url), args);
  const url = (await outcome(child)) as string;
  const tell = async <Name extends keyof Outcomes>(command: Command & { readonly name: Name }) => {
    child.send(command);
    return (await outcome(child)) as Outcomes[Name];
  };
  return {
    url,
    issueKey: (account) => tell({ name: "key", account }),
    heap: () => tell({ name: "heap" }),
    async stop() {
      await tell({ name: "stop" });
      const ended = once(child, "exit");
      child.disconnect();
      await ended;
    },
  };
}

/** What the process says next. */
async function outcome(child: ChildProcess): Promise<unknown> {
  const waiting = new AbortController();
  const { signal } = waiting;
  const ended = once(child, "exit", { signal }).then(([code]) => {
    throw new Error(`The service ended by itself with code ${code}: .build/bench has its log.`);
  });
  try {
    const [said] = await Promise.race([once(child, "message", { signal }), ended]);
    return said.outcome;
  } finally {
    ended.catch(() => {});
    waiting.abort();
  }
}
