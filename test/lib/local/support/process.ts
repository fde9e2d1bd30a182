import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { vi } from "vitest";
import { lockFile } from "../../../../lib/local/engine/data-directory.ts";
import { errorCode } from "../../../../lib/user-error.ts";

const root = join(import.meta.dirname, "../../../..");

/** Starts a program, by default `npm start`, in a process group of its own. */
export function startCommand(
  env: Record<string, string>,
  { cwd = root, args = [] as readonly string[], program = "bin/local.ts" } = {},
) {
  const child = spawn(process.execPath, [program, ...args], {
    cwd,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      ...env,
    },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      output += chunk;
    });
  }
  /** The exit code of the program, or the signal that ended it. */
  const ended: Promise<number | string> = once(child, "close").then(([code, signal]) => code ?? signal);
  const pid = child.pid ?? 0;
  const stop = async () => {
    signalProcess(pid, "SIGTERM");
    await ended;
  };
  return { pid, output: () => output, ended, stop };
}

/** Resolves when the service accepts requests. */
export async function untilServing(command: ReturnType<typeof startCommand>): Promise<void> {
  const isServing = () => command.output().includes("Ctrl-C stops it");
  const ended = command.ended.then((code) => {
    throw new Error(`It ended with ${code}: ${command.output()}`);
  });
  await Promise.race([vi.waitUntil(isServing, { timeout: 300_000 }), ended]);
}

/** Finds an unused port below the ephemeral ones, because a concurrent run could be given an ephemeral port meanwhile. */
export async function freePort(): Promise<number> {
  const port = randomInt(20_000, 32_000);
  await using server = createServer().listen(port, "127.0.0.1");
  const isFree = await once(server, "listening").catch(() => undefined);
  return isFree ? port : freePort();
}

/** Sends a signal to a process that may have ended already, or to a process group by its negative id. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (errorCode(error) !== "ESRCH") throw error;
  }
}

/** Whether a process has the database open. */
export function isOpen(file: string): boolean {
  const unlock = lockFile(file);
  unlock?.();
  return unlock === undefined;
}
