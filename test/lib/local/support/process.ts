import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readlinkSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { errorCode } from "../../../../lib/errors.ts";
import { lockFile } from "../../../../lib/local/engine/file-lock.ts";

const root = join(import.meta.dirname, "../../../..");

/** `npm start` as a process of its own. */
export interface StartedCommand {
  readonly child: ChildProcess;
  readonly pid: number;
  /** Everything that it has printed. */
  output(): string;
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
}

interface Start {
  /** The project's root. */
  readonly cwd?: string;
  readonly args?: readonly string[];
  /** Options of Node.js itself. */
  readonly nodeArgs?: readonly string[];
}

/** Starts `bin/local.ts` in a process group of its own. */
export function startCommand(
  env: Record<string, string>,
  { cwd = root, args = [], nodeArgs = [] }: Start = {},
): StartedCommand {
  const child = spawn(process.execPath, [...nodeArgs, "bin/local.ts", ...args], {
    cwd,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      ENGINE_PORT: "0",
      ...env,
    },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      output += chunk;
    });
  }
  const ended = once(child, "close").then(([code, signal]) => code ?? signal);
  return { child, pid: child.pid ?? 0, output: () => output, ended };
}

/** Resolves when the service accepts requests. */
export async function untilServing(command: StartedCommand): Promise<void> {
  const serving = new Promise<void>((resolve) => {
    command.child.stdout?.on("data", () => command.output().includes("Ctrl-C stops it") && resolve());
  });
  const ended = command.ended.then((code) => {
    throw new Error(`It ended with ${code}: ${command.output()}`);
  });
  await Promise.race([serving, ended]);
}

/** Finds a port that is not in use. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  return typeof address === "object" && address ? address.port : 0;
}

/** Sends a signal to a process, or to a process group by its negative id, that may have ended already. */
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

/** Other systems than Linux do not show which files a process has open without a program of their own. */
export const canFindEngines = process.platform === "linux";

/** Finds the engines that have the file open, by its real path. Linux only. */
export function findEngines(file: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => readLink(`/proc/${pid}/exe`)?.endsWith("/dynoxide"))
    .filter((pid) => listOpenFiles(pid).includes(file))
    .map(Number);
}

function listOpenFiles(pid: string): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => readLink(`/proc/${pid}/fd/${fd}`) ?? []);
  } catch {
    // The process has ended.
    return [];
  }
}

function readLink(link: string): string | undefined {
  try {
    return readlinkSync(link);
  } catch {
    return undefined;
  }
}
