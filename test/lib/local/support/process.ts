import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readlinkSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";

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
}

/** Starts `bin/local.ts` in a process group of its own. */
export function startCommand(
  env: Record<string, string>,
  { cwd = root, args = [] }: Start = {},
): StartedCommand {
  const child = spawn(process.execPath, ["bin/local.ts", ...args], {
    cwd,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env.PATH ?? "", ...env },
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

/** Finds the processes that have the file open. */
export function findOpeners(file: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => listOpenFiles(pid).includes(file))
    .map(Number);
}

function listOpenFiles(pid: string): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => readLinkTarget(`/proc/${pid}/fd/${fd}`) ?? []);
  } catch {
    // The process has ended.
    return [];
  }
}

function readLinkTarget(link: string): string | undefined {
  try {
    return readlinkSync(link);
  } catch {
    return undefined;
  }
}
