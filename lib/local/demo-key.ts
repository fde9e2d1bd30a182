import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "../errors.ts";
import { useEngine } from "./engine/dynamodb-client.ts";
import type { LocalRun } from "./local-run.ts";

const account = "demo";

/**
 * Returns an API key of the account `demo`: the one that an earlier run left in the data directory if it is still
 * valid, otherwise a new one.
 *
 * Call it once in a process: the API's modules read the table's name and address from the environment only once.
 */
export async function prepareDemoKey(
  directory: string,
  { dynamodbEndpoint, tableName }: LocalRun,
): Promise<string> {
  useEngine(dynamodbEndpoint, tableName);
  const { findApiKey, issueApiKey } = await import("../../shared/domain/api-keys.ts");
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
