import { execFile, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll } from "vitest";
import type { Call, Outcome } from "./command-process.ts";
import { engineEndpoint } from "./engine-endpoint.ts";

const root = join(import.meta.dirname, "../..");

const directories = await mkdtemp(join(tmpdir(), "ops-"));
afterAll(() => rm(directories, { recursive: true }));

/** A data directory whose `run.json` names a table, the test file's own by default. It is removed after the test file. */
export async function createDataDirectory(tableName = process.env.TABLE_NAME): Promise<string> {
  const directory = await mkdtemp(join(directories, "run-"));
  const run = {
    tableName,
    dynamodbEndpoint: engineEndpoint,
    pid: process.pid,
  };
  await writeFile(join(directory, "run.json"), JSON.stringify(run));
  return directory;
}

interface Environment {
  readonly dataDirectory: string;
  readonly cwd?: string;
  /** The directory of a copy of the project, whose command is run. */
  readonly project?: string;
  /** Variables that are added to those of this process. */
  readonly env?: NodeJS.ProcessEnv;
  /** What the command reads from stdin. */
  readonly input?: string;
}

/** Runs the command line `ops keys …`. */
export const opsKeys = (args: readonly string[], environment: Environment) =>
  ops(["keys", ...args], environment);

let commands: ReturnType<typeof startCommands> | undefined;
let isBusy = false;
afterAll(() => void commands?.process.kill());

/** Runs the command line `ops …` in another process, which serves the commands of a test file. */
export async function ops(
  args: readonly string[],
  { dataDirectory, cwd = root, project, env: added, input }: Environment,
): Promise<Outcome> {
  const { TABLE_NAME, ...others } = process.env;
  const call = { args, cwd, env: { ...others, DATA_DIR: dataDirectory, ...added } };
  if (project !== undefined || input !== undefined || isBusy) return start(call, project, input);
  isBusy = true;
  try {
    commands ??= startCommands(call.env);
    commands.process.send(call, () => {});
    const [outcome] = await Promise.race([once(commands.process, "message"), commands.ended]);
    return outcome;
  } finally {
    isBusy = false;
  }
}

function startCommands(env: NodeJS.ProcessEnv) {
  const process = fork(join(import.meta.dirname, "command-process.ts"), {
    env,
    execArgv: [],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const ended = once(process, "exit").then(([code, signal]) => {
    commands = undefined;
    throw new Error(`The process of the commands has ended: ${code ?? signal}.`);
  });
  ended.catch(() => {});
  return { process, ended };
}

/** Runs a command in a process of its own. */
function start({ args, cwd, env }: Call, project = root, input = ""): Promise<Outcome> {
  const program = join(project, "bin/ops.ts");
  const running = promisify(execFile)(process.execPath, [program, ...args], { env, cwd });
  running.child.stdin?.end(input);
  return running.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );
}
