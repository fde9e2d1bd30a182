import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { errorMessage, UserError } from "../../user-error.ts";

/**
 * The ports for the engine. The engine answers every request that reaches it, whoever sends it.
 *
 * Browsers block requests to these ports, whatever the host name in the URL, so no web page can reach the engine.
 * Ports of the same list that are used on many machines, such as those of X11 and NFS, are left out.
 *
 * @see https://fetch.spec.whatwg.org/#port-blocking
 */
export const enginePorts = [
  1719, 1720, 1723, 3659, 4190, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10_080,
] as const;

interface EngineOptions {
  /** The real path of the directory for its data; without it, the data is kept in memory. */
  readonly directory?: string | undefined;
  /** The ports from which a free one is chosen, 0 for any; by default, those that no web page can reach. */
  readonly ports?: readonly number[];
}

/** How long an engine may take until it listens, in milliseconds. */
const startTimeout = 10_000;

/** Ends a run whose engine has ended without having been stopped. */
const onExit = () => {
  throw new Error("The embedded DynamoDB ended by itself. Start again: its data is kept.");
};

/** Starts the embedded DynamoDB on a free port of this machine. @throws UserError when it does not start */
export async function startEngine(
  options: EngineOptions,
): Promise<{ endpoint: string; stop(): Promise<void> }> {
  const { directory, ports = enginePorts } = options;
  const port = await findFreePort(ports);
  const databaseFile = directory && join(directory, "dynamodb.sqlite");
  const data = databaseFile ? ["--db-path", databaseFile] : [];
  const args = [engineBinary(), "serve", "--host", "127.0.0.1", "--port", String(port), ...data];
  // It ends with this process, even by SIGKILL. In its own process group, Ctrl-C does not end it before its last request.
  const child = fork(join(import.meta.dirname, "engine-runner.ts"), args, {
    detached: true,
    execArgv: [],
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  const failure = await findFailure(child);
  // Another process has taken the port meanwhile. The words are those of the engine or of the system.
  if (/already in use/i.test(failure ?? "")) return startEngine(options);
  if (failure !== undefined)
    throw new UserError(`The embedded DynamoDB did not start: ${failure || "no reason given"}.`);
  if (databaseFile) indexStream(databaseFile);
  child.once("exit", onExit);
  return {
    endpoint: `http://127.0.0.1:${port}`,
    /** Ends the engine at once, which loses no acknowledged write. */
    async stop() {
      child.off("exit", onExit);
      if (!child.connected) return;
      child.disconnect();
      await once(child, "exit");
    },
  };
}

/** Finds a free port, because the engine does not print which port the system gave it. */
async function findFreePort(ports: readonly number[]): Promise<number> {
  for (const port of ports) {
    await using server = createServer().listen(port, "127.0.0.1");
    const isFree = await once(server, "listening").catch(() => undefined);
    if (isFree) return (server.address() as AddressInfo).port;
  }
  throw new UserError(
    `All ports of the embedded DynamoDB are in use (${ports.join(", ")}): stop another \`npm start\`.`,
  );
}

/**
 * Waits for the line that the engine prints when it listens, and ends the engine after the time limit.
 *
 * @returns why the engine does not listen, which is its output if it ended by itself; undefined when it listens
 */
async function findFailure(child: ChildProcess): Promise<string | undefined> {
  const outcome = Promise.withResolvers<string | undefined>();
  let output = "";
  child.stderr?.on("data", (chunk) => {
    output = `${output}${chunk}`.slice(-1000);
    if (output.includes("Dynoxide listening on ")) outcome.resolve(undefined);
  });
  child.once("close", () => outcome.resolve(output.trim()));
  const timer = setTimeout(() => {
    child.disconnect();
    outcome.resolve(`no response within ${startTimeout / 1000} s`);
  }, startTimeout);
  return outcome.promise.finally(() => clearTimeout(timer));
}

/**
 * Adds an index to the embedded engine's table of stream records, which works around a defect of dynoxide 1.2.1: it
 * has no index on `_stream_records`, so every write and every read of a stream scans all records that were ever
 * written. With 100,000 records that takes some 20 ms. A run without the index also works, only slower.
 *
 * SQLite uses the index only if its expression is exactly the one in the engine's queries.
 *
 * @param databaseFile the file of a running engine, which has created the table
 * @see https://www.sqlite.org/expridx.html
 */
function indexStream(databaseFile: string): void {
  try {
    // The timeout lets the engine finish its own writes.
    using database = new DatabaseSync(databaseFile, { timeout: 10_000 });
    database.exec(
      "CREATE INDEX IF NOT EXISTS stream_by_number ON _stream_records (table_name, CAST(sequence_number AS INTEGER))",
    );
  } catch (error) {
    console.error(
      `The embedded DynamoDB's stream could not be indexed (${errorMessage(error)}): writes slow down as it grows.`,
    );
  }
}

/** Finds the embedded DynamoDB for a platform. @throws UserError when its package is not installed */
export function engineBinary(platform: string = process.platform, arch: string = process.arch): string {
  const name = `@dynoxide/${platform}-${arch}`;
  try {
    return createRequire(import.meta.url).resolve(`${name}/dynoxide`);
  } catch {
    throw new UserError(
      `The embedded DynamoDB (${name}) is not installed: run \`npm ci\`. If it is not available for this platform, start DynamoDB Local with \`java -jar DynamoDBLocal.jar\`, then run \`DYNAMODB_ENDPOINT=http://127.0.0.1:8000 npm start\`.`,
    );
  }
}
