import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "../errors.ts";
import { useEngine } from "./engine/dynamodb-client.ts";
import type { LocalRun } from "./local-run.ts";

const account = "demo";

/**
 * An API key of the account `demo`: the one that an earlier run left in the data directory if it is still live,
 * otherwise a new one.
 *
 * It is for a process of its own: the modules of the API take the table's name and address from the environment once.
 */
export async function demoKey(directory: string, { dynamodbEndpoint, tableName }: LocalRun): Promise<string> {
  useEngine(dynamodbEndpoint, tableName);
  const { findApiKey, issueApiKey } = await import("../../shared/domain/api-keys.ts");
  const file = join(directory, "api-key");
  const kept = await read(file);
  if (kept && (await findApiKey(kept))?.accountId === account) return kept;
  const { apiKey } = await issueApiKey(account, { label: "npm start" });
  await writeFile(file, `${apiKey}\n`, { mode: 0o600 });
  return apiKey;
}

async function read(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, "utf8")).trim();
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
