import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { awsRegion, engineCredentials } from "./dynamodb-client.ts";
import { codeOf } from "./errors.ts";
import { localRegion } from "./intrinsics.ts";
import type { LocalRun } from "./local-run.ts";

const account = "demo";

/**
 * An API key of the account `demo`: the one that an earlier run left in the data directory if it is still live,
 * otherwise a new one.
 *
 * It is for a process of its own: the modules of the API take the table's name and address from the environment once.
 */
export async function demoKey(directory: string, { dynamodbEndpoint, tableName }: LocalRun): Promise<string> {
  const region = awsRegion(dynamodbEndpoint);
  Object.assign(process.env, { TABLE_NAME: tableName, AWS_ENDPOINT_URL_DYNAMODB: dynamodbEndpoint });
  process.env.AWS_REGION = region ?? localRegion;
  if (region === undefined) {
    process.env.AWS_ACCESS_KEY_ID = engineCredentials.accessKeyId;
    process.env.AWS_SECRET_ACCESS_KEY = engineCredentials.secretAccessKey;
  }
  const { findApiKey, issueApiKey } = await import("../../shared/api-keys.ts");
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
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
