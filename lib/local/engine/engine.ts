import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { UserError } from "../../errors.ts";
import { endLeftEngine, endProcess, signalProcess, spawnEngine } from "./engine-process.ts";
import { indexStream } from "./stream-index.ts";

/** A running DynamoDB. */
export interface Engine {
  readonly endpoint: string;
  stop(): Promise<void>;
}

interface EngineOptions {
  /** The real path of the directory for its data; without it they are kept in memory. */
  readonly directory?: string | undefined;
  readonly log: (line: string) => void;
  /** Called when the engine ends and nobody stopped it. */
  readonly onExit: () => void;
}

/** How long an engine may take to answer its first request, in milliseconds. */
const startLimit = 10_000;

/** Starts the embedded DynamoDB on a free port of this machine, after ending one that was left on the same data. */
export async function startEngine({ directory, log, onExit }: EngineOptions): Promise<Engine> {
  const databaseFile = directory && join(directory, "dynamodb.sqlite");
  const pidFile = directory && join(directory, "engine.pid");
  if (databaseFile && pidFile) {
    const ended = await endLeftEngine(pidFile, databaseFile);
    if (ended !== undefined) log(`Ended the DynamoDB that the last run left behind (process ${ended}).`);
  }
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const args = [
    "--host",
    "127.0.0.1",
    "--port",
    String(port),
    ...(databaseFile ? ["--db-path", databaseFile] : []),
  ];
  const child = await spawnEngine(args, pidFile);
  const { pid } = child;
  if (pid === undefined)
    throw new UserError("The embedded DynamoDB could not be started: is there a /bin/sh?");

  const isAlive = () => child.exitCode === null && child.signalCode === null;
  const endAtOnce = () => signalProcess(pid, "SIGKILL");
  process.once("exit", endAtOnce);
  child.once("exit", () => process.off("exit", endAtOnce));
  try {
    await untilReady(child, endpoint, isAlive);
    if (databaseFile) indexStream(databaseFile);
  } catch (error) {
    endAtOnce();
    throw error;
  }
  child.once("exit", onExit);
  return {
    endpoint,
    async stop() {
      child.off("exit", onExit);
      await endProcess(pid, isAlive);
    },
  };
}

/** The system's choice; the engine cannot say which port it took when it is left to choose. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address ? address.port : 0;
}

async function untilReady(child: ChildProcess, endpoint: string, isAlive: () => boolean): Promise<void> {
  let complaint = "";
  child.stderr?.on("data", (chunk) => {
    complaint = `${complaint}${chunk}`.slice(-1000);
  });
  for (const giveUpAt = Date.now() + startLimit; Date.now() < giveUpAt; await setTimeout(20)) {
    if (!isAlive())
      throw new UserError(`The embedded DynamoDB did not start: ${complaint.trim() || "no reason given"}.`);
    try {
      await fetch(endpoint);
      return;
    } catch {}
  }
  throw new UserError(`The embedded DynamoDB did not answer within ${startLimit / 1000} s: try again.`);
}
