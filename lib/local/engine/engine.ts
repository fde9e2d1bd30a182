import type { ChildProcess } from "node:child_process";
import { randomInt } from "node:crypto";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { UserError } from "../../errors.ts";
import { enginePorts } from "./engine-ports.ts";
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

/** A started process of the engine. */
interface EngineProcess {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly isAlive: () => boolean;
}

/** How long an engine may take until it listens, and how long to wait for a free port, in milliseconds. */
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
  const { port, engine } = await startOnFreePort(databaseFile ? ["--db-path", databaseFile] : [], pidFile);
  const { child, pid, isAlive } = engine;
  if (databaseFile) indexStream(databaseFile, engineVersion(), log);
  child.once("exit", onExit);
  return {
    endpoint: `http://127.0.0.1:${port}`,
    async stop() {
      child.off("exit", onExit);
      await stopProcess(pid, isAlive);
    },
  };
}

/** Starts the engine on one of its ports, from a random one on. @throws UserError when it does not start */
async function startOnFreePort(args: readonly string[], pidFile: string | undefined) {
  const first = randomInt(enginePorts.length);
  const ports = [...enginePorts.slice(first), ...enginePorts.slice(0, first)];
  for (const deadline = Date.now() + startTimeout; Date.now() < deadline; await setTimeout(100)) {
    for (const port of ports) {
      const engine = await startProcess(["--host", "127.0.0.1", "--port", String(port), ...args], pidFile);
      const failure = await findFailure(engine);
      if (failure === undefined) return { port, engine };
      // The engine's words, or those of the system.
      if (!/already in use/i.test(failure))
        throw new UserError(`The embedded DynamoDB did not start: ${failure || "no reason given"}.`);
    }
  }
  throw new UserError(
    `All ports of the embedded DynamoDB are in use (${enginePorts.join(", ")}): stop another \`npm start\`.`,
  );
}

/** Starts a process that ends with this one. */
async function startProcess(args: readonly string[], pidFile: string | undefined): Promise<EngineProcess> {
  const child = await spawnEngine(args, pidFile);
  const { pid } = child;
  if (pid === undefined)
    throw new UserError("The embedded DynamoDB could not be started: check that /bin/sh exists.");
  const kill = () => signalProcess(pid, "SIGKILL");
  process.once("exit", kill);
  child.once("exit", () => process.off("exit", kill));
  return { child, pid, isAlive: () => child.exitCode === null && child.signalCode === null };
}

/**
 * Waits for the line that the engine prints when it listens.
 *
 * @returns what it printed if it ended instead
 * @throws UserError after the time limit; the engine is killed
 */
async function findFailure({ child, pid }: EngineProcess): Promise<string | undefined> {
  const outcome = Promise.withResolvers<string | undefined>();
  let output = "";
  child.stderr?.on("data", (chunk) => {
    output = `${output}${chunk}`.slice(-1000);
    if (output.includes("Dynoxide listening on ")) outcome.resolve(undefined);
  });
  child.once("close", () => outcome.resolve(output.trim()));
  const timer = globalThis.setTimeout(() => {
    signalProcess(pid, "SIGKILL");
    const seconds = startTimeout / 1000;
    outcome.reject(new UserError(`The embedded DynamoDB did not respond within ${seconds} s: start again.`));
  }, startTimeout);
  return outcome.promise.finally(() => clearTimeout(timer));
}
