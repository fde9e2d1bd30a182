import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { WorkerHeap } from "./heap.ts";

/** The commands to the service's process, with their results. */
export interface Outcomes {
  readonly key: string;
  readonly heap: readonly WorkerHeap[];
  readonly stop: unknown;
}

/** A command to the service's process. */
export interface Command {
  readonly name: keyof Outcomes;
  readonly account?: string;
}

/** The whole service on this machine, in a process of its own. */
export type Service = Awaited<ReturnType<typeof startService>>;

const directory = join(import.meta.dirname, "..", "..", "..", ".build", "bench");

/**
 * Starts the service with the stage `dev` and the settings that override its own. Its log is
 * `.build/bench/<name>.log`.
 *
 * @throws Error when the process ends before it is stopped
 */
export async function startService(name: string, settings: Readonly<Record<string, number>>) {
  await mkdir(directory, { recursive: true });
  const args = [JSON.stringify(settings), join(directory, `${name}.log`)];
  const child = fork(new URL("./service-process.ts", import.meta.url), args);
  const url = (await readOutcome(child)) as string;
  const send = async <Name extends keyof Outcomes>(command: Command & { readonly name: Name }) => {
    child.send(command);
    return (await readOutcome(child)) as Outcomes[Name];
  };
  return {
    url,
    /** Issues an API key of an account. */
    issueKey: (account: string) => send({ name: "key", account }),
    /** The memory of every execution environment, after a forced collection. */
    heap: () => send({ name: "heap" }),
    async stop() {
      await send({ name: "stop" });
      const ended = once(child, "exit");
      child.disconnect();
      await ended;
    },
  };
}

/** Waits for the process's next message. */
async function readOutcome(child: ChildProcess): Promise<unknown> {
  const waiting = new AbortController();
  const { signal } = waiting;
  const ended = once(child, "exit", { signal }).then(([code]) => {
    throw new Error(`The service ended by itself with code ${code}; its log is in .build/bench.`);
  });
  try {
    const [message] = await Promise.race([once(child, "message", { signal }), ended]);
    return message.outcome;
  } finally {
    ended.catch(() => {});
    waiting.abort();
  }
}
