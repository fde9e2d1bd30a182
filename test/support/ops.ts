import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll } from "vitest";
import { dataFormat } from "../../shared/dynamodb/data-format.ts";
import { engineEndpoint } from "./engine-endpoint.ts";

const root = join(import.meta.dirname, "../..");

const directories: string[] = [];
afterAll(() => Promise.all(directories.splice(0).map((directory) => rm(directory, { recursive: true }))));

/** A data directory whose `run.json` names a table, the test file's own by default. It is removed after the test file. */
export async function createDataDirectory(
  tableName = process.env.TABLE_NAME,
  url = "http://127.0.0.1:3000",
): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "ops-"));
  directories.push(directory);
  const run = {
    url,
    tableName,
    dynamodbEndpoint: engineEndpoint,
    dataFormat,
    pid: process.pid,
  };
  await writeFile(join(directory, "run.json"), JSON.stringify(run));
  return directory;
}

interface Environment {
  readonly dataDirectory: string;
  /** The directory of a copy of the project, whose command is run. */
  readonly project?: string;
  /** Variables that are added to those of this process. */
  readonly env?: NodeJS.ProcessEnv;
  /** What the command reads from stdin. */
  readonly input?: string;
}

/** What a command did. */
export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command line `ops …` in a process of its own. */
export function ops(
  args: readonly string[],
  { dataDirectory, project = root, env: added, input = "" }: Environment,
): Promise<Outcome> {
  const { TABLE_NAME, ...others } = process.env;
  const env = { ...others, DATA_DIR: dataDirectory, ...added };
  const program = join(project, "bin/ops.ts");
  const running = promisify(execFile)(process.execPath, [program, ...args], { env, cwd: root });
  running.child.stdin?.end(input);
  return running.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );
}
