import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { UserError } from "../../user-error.ts";

/** How long an engine may take to end after SIGTERM, in milliseconds. */
const stopTimeout = 3000;

/** The path of the embedded DynamoDB. */
export const engineBinary = () => join(dirname(findManifest()), "dynoxide");

/** Finds the manifest of the engine's package for a platform. @throws UserError when it is not installed */
export function findManifest(platform: string = process.platform, arch: string = process.arch): string {
  const name = `@dynoxide/${platform}-${arch}`;
  try {
    return createRequire(import.meta.url).resolve(`${name}/package.json`);
  } catch {
    throw new UserError(
      `The embedded DynamoDB (${name}) is not installed: run \`npm ci\`. If it is not available for this platform, start DynamoDB Local with \`java -jar DynamoDBLocal.jar\`, then run \`DYNAMODB_ENDPOINT=http://127.0.0.1:8000 npm start\`.`,
    );
  }
}

/**
 * A shell that becomes the engine, and a second one that kills it when its stdin ends: this process has ended, or has
 * noticed the end of the engine. No other process can have the id by then, because it is also that of the group of both
 * (`detached`).
 */
const script = `exec 3<&0 </dev/null
{ read -r end <&3; kill -9 $$; } 2>/dev/null &
exec "$@" 3<&-`;

/**
 * Starts an engine, which ends with this process, even after SIGKILL. It is in a process group of its own, so that a
 * Ctrl-C in the terminal does not end it before its last request.
 */
export function spawnEngine(args: readonly string[]): ChildProcess {
  const child = spawn("/bin/sh", ["-c", script, "sh", engineBinary(), "serve", ...args], {
    detached: true,
    stdio: ["pipe", "ignore", "pipe"],
  });
  child.on("error", () => {});
  return child;
}

/** Sends SIGTERM to the process, then SIGKILL if it does not end, and waits until it has ended. */
export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill();
  const timer = setTimeout(() => child.kill("SIGKILL"), stopTimeout);
  await ended;
  clearTimeout(timer);
}
