import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { errorCode, UserError } from "../../errors.ts";

/** How long an engine may take to end after each signal, in milliseconds. */
const stopTimeout = 3000;

/** The path of the embedded DynamoDB. */
export const engineBinary = () => join(dirname(findPackage()), "dynoxide");

/** The version of the embedded DynamoDB. */
export const engineVersion = () =>
  (JSON.parse(readFileSync(findPackage(), "utf8")) as { version: string }).version;

function findPackage(): string {
  try {
    return createRequire(import.meta.url).resolve("@dynoxide/linux-x64/package.json");
  } catch {
    const isSupported = process.platform === "linux" && process.arch === "x64";
    const remedy = isSupported ? ": run `npm ci`" : " and is available for Linux on x64 only";
    throw new UserError(
      `The embedded DynamoDB (@dynoxide/linux-x64) is not installed${remedy}; or start another engine, such as \`java -jar DynamoDBLocal.jar\`, and set DYNAMODB_ENDPOINT=http://127.0.0.1:8000.`,
    );
  }
}

/**
 * Starts an engine, in a process group of its own so that a Ctrl-C in the terminal does not end it before its last
 * request.
 *
 * Its process waits for a line before it becomes the engine: if this process dies before the process id is recorded,
 * the line is never sent and no engine runs. The id stays the same when the engine replaces the shell. The umask makes
 * the engine's files accessible to their owner only.
 *
 * @param pidFile where to record the process id, so that a later run can find an orphaned engine
 */
export async function spawnEngine(
  args: readonly string[],
  pidFile: string | undefined,
): Promise<ChildProcess> {
  const child = spawn(
    "/bin/sh",
    ["-c", 'umask 077 && read -r go && exec "$@"', "sh", engineBinary(), "serve", ...args],
    {
      detached: true,
      stdio: ["pipe", "ignore", "pipe"],
    },
  );
  child.on("error", () => {});
  // If the shell ends at once, the broken pipe must not end this process.
  child.stdin?.on("error", () => {});
  if (pidFile !== undefined) await writeFile(pidFile, `${child.pid}\n`, { mode: 0o600 });
  child.stdin?.write("go\n");
  return child;
}

/**
 * Stops an engine that an earlier run left running, if the recorded process is still an engine on this file.
 *
 * @returns the id of the stopped process
 */
export async function stopOrphanedEngine(pidFile: string, databaseFile: string): Promise<number | undefined> {
  const pid = await readPid(pidFile);
  if (pid === undefined || !isEngineOn(pid, databaseFile)) return undefined;
  await stopProcess(pid, () => isEngineOn(pid, databaseFile));
  await rm(pidFile, { force: true });
  return pid;
}

async function readPid(pidFile: string): Promise<number | undefined> {
  try {
    const pid = Number(await readFile(pidFile, "utf8"));
    return Number.isSafeInteger(pid) && pid > 1 ? pid : undefined;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Whether the process is an engine on the file, or about to become one; a zombie process is not. */
export function isEngineOn(pid: number, databaseFile: string): boolean {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    return words.some((word) => word.endsWith("/dynoxide")) && words.includes(databaseFile);
  } catch {
    return false;
  }
}

/** Sends SIGTERM to the process, then SIGKILL if it does not end, and waits until it has ended. */
export async function stopProcess(pid: number, isAlive: () => boolean): Promise<void> {
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    if (isAlive()) signalProcess(pid, signal);
    for (let waited = 0; isAlive() && waited < stopTimeout; waited += 10) await setTimeout(10);
  }
  if (isAlive()) throw new UserError(`The process ${pid} does not end: end it by hand and start again.`);
}

/** Sends a signal to a process that may have ended already. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (errorCode(error) !== "ESRCH") throw error;
  }
}
