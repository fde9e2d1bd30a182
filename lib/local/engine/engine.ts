import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { UserError } from "../../errors.ts";
import {
  engineVersion,
  signalProcess,
  spawnEngine,
  stopOrphanedEngine,
  stopProcess,
} from "./engine-process.ts";
import { indexStream } from "./stream-index.ts";

interface EngineOptions {
  /** The real path of the directory for its data; without it, the data is kept in memory. */
  readonly directory?: string | undefined;
  readonly log: (line: string) => void;
  /** Called when the engine ends without having been stopped. */
  readonly onExit: () => void;
}

/** How long an engine may take to respond to its first request, in milliseconds. */
const startTimeout = 10_000;

/** Starts the embedded DynamoDB on a free port of this machine, after stopping an orphaned one on the same data. */
export async function startEngine({ directory, log, onExit }: EngineOptions) {
  const databaseFile = directory && join(directory, "dynamodb.sqlite");
  const pidFile = directory && join(directory, "engine.pid");
  if (databaseFile && pidFile) {
    const stopped = await stopOrphanedEngine(pidFile, databaseFile);
    if (stopped !== undefined)
      log(`Stopped the DynamoDB that the last run left running (process ${stopped}).`);
  }
  const port = await findFreePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const args = ["--host", "127.0.0.1", "--port", String(port)];
  if (databaseFile) args.push("--db-path", databaseFile);
  const child = await spawnEngine(args, pidFile);
  const { pid } = child;
  if (pid === undefined)
    throw new UserError("The embedded DynamoDB could not be started: check that /bin/sh exists.");

  const isAlive = () => child.exitCode === null && child.signalCode === null;
  const kill = () => signalProcess(pid, "SIGKILL");
  process.once("exit", kill);
  child.once("exit", () => process.off("exit", kill));
  try {
    await waitUntilReady(child, endpoint, isAlive);
    if (databaseFile) indexStream(databaseFile, engineVersion(), log);
  } catch (error) {
    kill();
    throw error;
  }
  child.once("exit", onExit);
  return {
    endpoint,
    async stop() {
      child.off("exit", onExit);
      await stopProcess(pid, isAlive);
    },
  };
}

/** Finds a port before the engine starts: with port 0 the engine does not report which port it took. */
async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address ? address.port : 0;
}

async function waitUntilReady(child: ChildProcess, endpoint: string, isAlive: () => boolean): Promise<void> {
  let errorOutput = "";
  child.stderr?.on("data", (chunk) => {
    errorOutput = `${errorOutput}${chunk}`.slice(-1000);
  });
  for (const deadline = Date.now() + startTimeout; Date.now() < deadline; await setTimeout(20)) {
    if (!isAlive())
      throw new UserError(`The embedded DynamoDB did not start: ${errorOutput.trim() || "no reason given"}.`);
    try {
      await fetch(endpoint);
      return;
    } catch {}
  }
  throw new UserError(`The embedded DynamoDB did not respond within ${startTimeout / 1000} s: start again.`);
}
