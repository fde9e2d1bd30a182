import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { lockFile } from "../../../lib/local/engine/data-directory.ts";
import { dataFormat } from "../../../shared/dynamodb/data-format.ts";
import { engineEndpoint } from "../setup/engine-endpoint.ts";
import { filePath } from "./lead-files.ts";

/** Creates a data directory whose `run.json` names a table, by default that of the test file, after which it is removed. */
export async function createDataDirectory(
  tableName = process.env.TABLE_NAME,
  url = "http://127.0.0.1:3000",
): Promise<string> {
  const directory = filePath("");
  await mkdir(directory);
  const run = { url, tableName, dynamodbEndpoint: engineEndpoint, dataFormat };
  await writeFile(join(directory, "run.json"), JSON.stringify(run));
  lockFile(join(directory, "run.lock"));
  return directory;
}
