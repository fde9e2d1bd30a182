import { type ChildProcess, fork } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { UserError } from "../../user-error.ts";

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
 * Starts an engine, which ends with this process, even after SIGKILL. It is in a process group of its own, so that a
 * Ctrl-C in the terminal does not end it before its last request.
 */
export function spawnEngine(args: readonly string[]): ChildProcess {
  const runner = join(import.meta.dirname, "engine-runner.ts");
  return fork(runner, [engineBinary(), "serve", ...args], {
    detached: true,
    execArgv: [],
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
}
