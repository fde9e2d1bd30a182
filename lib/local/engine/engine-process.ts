import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { errorCode, UserError } from "../../errors.ts";

/** How long an engine may take to end by itself, in milliseconds. */
const patience = 3000;

/** The path of the embedded DynamoDB. */
export function engineBinary(): string {
  try {
    return join(
      dirname(createRequire(import.meta.url).resolve("@dynoxide/linux-x64/package.json")),
      "dynoxide",
    );
  } catch {
    throw new UserError(
      `The embedded DynamoDB (@dynoxide/linux-x64) is not installed${process.platform === "linux" && process.arch === "x64" ? ": run `npm ci`" : ` and comes for Linux on x64 only`}; or start another engine, as \`java -jar DynamoDBLocal.jar\`, and set DYNAMODB_ENDPOINT=http://127.0.0.1:8000.`,
    );
  }
}

/**
 * Starts an engine, in a process group of its own so that a Ctrl-C in the terminal does not end it before its last
 * request.
 *
 * Its process waits for a line before it becomes the engine: if this process dies before the engine's id is
 * recorded, the line never comes and no engine ever runs. The id stays the same when the shell is replaced.
 *
 * @param pidFile where the process id is recorded; without it the engine is forgotten when this process dies
 */
export async function spawnEngine(
  args: readonly string[],
  pidFile: string | undefined,
): Promise<ChildProcess> {
  const child = spawn("/bin/sh", ["-c", 'read -r go && exec "$@"', "sh", engineBinary(), "serve", ...args], {
    detached: true,
    stdio: ["pipe", "ignore", "pipe"],
  });
  child.on("error", () => {});
  // A shell that ends at once must not take this process along by a broken pipe.
  child.stdin?.on("error", () => {});
  if (pidFile !== undefined) await writeFile(pidFile, `${child.pid}\n`);
  child.stdin?.write("go\n");
  return child;
}

/**
 * Ends the engine that an earlier run left behind, if its recorded process is still an engine on this very file.
 *
 * @returns the id of the process that was ended
 */
export async function endLeftEngine(pidFile: string, databaseFile: string): Promise<number | undefined> {
  const pid = await recordedPid(pidFile);
  if (pid === undefined || !isEngineOn(pid, databaseFile)) return undefined;
  await endProcess(pid, () => isEngineOn(pid, databaseFile));
  await rm(pidFile, { force: true });
  return pid;
}

async function recordedPid(pidFile: string): Promise<number | undefined> {
  try {
    const pid = Number(await readFile(pidFile, "utf8"));
    return Number.isSafeInteger(pid) && pid > 1 ? pid : undefined;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Whether the process is an engine on the file, or about to become one; a dead one that waits to be reaped is not. */
export function isEngineOn(pid: number, databaseFile: string): boolean {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    return words.some((word) => word.endsWith("/dynoxide")) && words.includes(databaseFile);
  } catch {
    return false;
  }
}

/** Asks the process to end, makes it if it does not, and comes back when it is gone. */
export async function endProcess(pid: number, isAlive: () => boolean): Promise<void> {
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    if (isAlive()) signalProcess(pid, signal);
    for (let waited = 0; isAlive() && waited < patience; waited += 10) await setTimeout(10);
  }
  if (isAlive()) throw new UserError(`The process ${pid} does not end: end it by hand and start again.`);
}

/** Sends a signal to a process that may be gone already. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (errorCode(error) !== "ESRCH") throw error;
  }
}
