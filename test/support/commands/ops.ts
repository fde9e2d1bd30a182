import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll } from "vitest";
import { dataFormat } from "../../../shared/dynamodb/data-format.ts";
import { engineEndpoint } from "../setup/engine-endpoint.ts";

const root = join(import.meta.dirname, "../../..");

const directories: string[] = [];
afterAll(() => Promise.all(directories.splice(0).map((directory) => rm(directory, { recursive: true }))));

/** Creates a data directory whose `run.json` names a table, by default that of the test file, after which it is removed. */
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

/** Runs the command line `ops …` in a process of its own, on the table of a data directory. */
export function ops(args: readonly string[], { dataDirectory }: { readonly dataDirectory: string }) {
  const { TABLE_NAME, ...env } = process.env;
  const options = { env: { ...env, DATA_DIR: dataDirectory }, cwd: root };
  return promisify(execFile)(process.execPath, ["bin/ops.ts", ...args], options).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );
}
