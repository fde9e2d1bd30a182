import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { UserError } from "../../lib/errors.ts";

const emulator = join(import.meta.dirname, "tools/node_modules/amplify-dynamodb-simulator/emulator");

/** The oldest version of Java that runs a source file whose classes this engine uses. */
const oldestJava = 17;

/**
 * Starts DynamoDB Local with tables in memory, on a free port of 127.0.0.1. It ends with this process, even if that is
 * killed.
 *
 * @throws UserError without a JDK, or when it does not start
 */
export async function startDynamodbLocal(): Promise<AsyncDisposable & { readonly endpoint: string }> {
  checkJava();
  const child = spawn(
    "java",
    [
      "-Djava.library.path=DynamoDBLocal_lib",
      ...["-cp", "DynamoDBLocal.jar:DynamoDBLocal_lib/*", join(import.meta.dirname, "LocalServer.java")],
      ...["-inMemory", "-sharedDb", "-disableTelemetry"],
    ],
    { cwd: emulator, stdio: ["pipe", "pipe", "pipe"] },
  );
  const ended = once(child, "close");
  let errors = "";
  child.stderr.on("data", (chunk) => {
    errors = `${errors}${chunk}`.slice(-1000);
  });
  const listening = Promise.withResolvers<string | undefined>();
  createInterface(child.stdout).on("line", (line) => {
    const [, port] = /^DynamoDB Local listens on port (\d+)$/.exec(line) ?? [];
    if (port !== undefined) listening.resolve(port);
  });
  child.once("close", () => listening.resolve(undefined));
  const port = await listening.promise;
  if (port === undefined)
    throw new UserError(`DynamoDB Local did not start: ${errors.trim() || "no reason given"}`);
  const stop = async () => {
    child.stdin.end();
    await ended;
  };
  return { endpoint: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: stop };
}

function checkJava(): void {
  const { stdout } = spawnSync("java", ["--list-modules"], { encoding: "utf8" });
  const [, version] = /^jdk\.compiler@(\d+)/m.exec(stdout ?? "") ?? [];
  if (Number(version) >= oldestJava) return;
  throw new UserError(
    `DynamoDB Local needs a JDK of version ${oldestJava} or newer: install one, for example the package openjdk-17-jdk-headless, and make sure that \`java\` in your PATH is that one.`,
  );
}
