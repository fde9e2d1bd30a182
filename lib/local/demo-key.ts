import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findApiKey } from "../../shared/domain/api-keys.ts";
import { errorCode } from "../errors.ts";
import { issueApiKey } from "../ops/keys/api-key-changes.ts";
import { selectEngineTable } from "./engine/dynamodb-client.ts";
import type { LocalRun } from "./local-run.ts";

const account = "demo";

/** Returns an API key of the account `demo`: the one in the data directory if it is still valid, otherwise a new one. */
export async function prepareDemoKey(
  directory: string,
  { dynamodbEndpoint, tableName }: LocalRun,
): Promise<string> {
  selectEngineTable(dynamodbEndpoint, tableName);
  const file = join(directory, "api-key");
  const existing = await readKey(file);
  if (existing && (await findApiKey(existing))?.accountId === account) return existing;
  const { apiKey } = await issueApiKey(account, { label: "npm start" });
  await writeFile(file, `${apiKey}\n`, { mode: 0o600 });
  return apiKey;
}

async function readKey(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, "utf8")).trim();
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
