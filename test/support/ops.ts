import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, inject } from "vitest";

const program = join(import.meta.dirname, "../../bin/ops.ts");

const root = await mkdtemp(join(tmpdir(), "ops-"));
afterAll(() => rm(root, { recursive: true }));

/** A data directory whose `run.json` names the test file's own table; it goes with the end of the file. */
export async function dataDirectoryOfRun(): Promise<string> {
  const directory = await mkdtemp(join(root, "run-"));
  const run = {
    tableName: process.env.TABLE_NAME,
    dynamodbEndpoint: inject("engine").endpoint,
    pid: process.pid,
  };
  await writeFile(join(directory, "run.json"), JSON.stringify(run));
  return directory;
}

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface Surroundings {
  readonly dataDirectory: string;
  readonly cwd?: string;
  /** Over that of this process. */
  readonly env?: NodeJS.ProcessEnv;
}

/** Runs the command line `ops keys …` in a process of its own. */
export const opsKeys = (args: readonly string[], surroundings: Surroundings) =>
  ops(["keys", ...args], surroundings);

/** Runs the command line `ops …` in a process of its own. */
export async function ops(
  args: readonly string[],
  { dataDirectory, cwd, env: own }: Surroundings,
): Promise<Outcome> {
  const { TABLE_NAME, ...others } = process.env;
  const env = {
    ...others,
    DATA_DIR: dataDirectory,
    ...own,
  };
  return promisify(execFile)(process.execPath, [program, ...args], { env, cwd }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );
}
